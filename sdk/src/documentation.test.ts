import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import ts from 'typescript';

const DIST = fileURLToPath(new URL('.', import.meta.url));
const ENTRY_POINTS = ['sdk', 'app', 'node', 'parquet', 'simulation'].map((entry) => `${DIST}${entry}.d.ts`);

/** A symbol that users see, by its name. */
interface Entry {
  readonly name: string;
  readonly text: string;
}

/** Every exported symbol of the package, and the members of each and of the types that those have. */
function publicSymbols(): Entry[] {
  const program = ts.createProgram(ENTRY_POINTS, {
    module: ts.ModuleKind.NodeNext,
    strict: true,
    target: ts.ScriptTarget.ES2022,
  });
  const checker = program.getTypeChecker();
  const seen = new Set<ts.Symbol>();
  const entries: Entry[] = [];
  const isOurs = (symbol: ts.Symbol) =>
    symbol.declarations?.every((declaration) => declaration.getSourceFile().fileName.startsWith(DIST)) ?? false;

  function isHidden(member: ts.Symbol): boolean {
    const [declaration] = member.declarations ?? [];
    if (!declaration || !isOurs(member)) return true;
    const owner = (declaration.parent as ts.ClassDeclaration).name?.text ?? '';
    const isErrorName = member.name === 'name' && owner.endsWith('Error');
    return isErrorName || (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Private) !== 0;
  }

  function visit(symbol: ts.Symbol, name: string): void {
    if (seen.has(symbol) || !isOurs(symbol)) return;
    seen.add(symbol);
    entries.push({ name, text: textOf(symbol) });
    const declared = symbol.flags & ts.SymbolFlags.Type ? checker.getDeclaredTypeOfSymbol(symbol) : undefined;
    if (declared) visitMembers(declared, name);
  }

  function textOf(symbol: ts.Symbol): string {
    const tags = symbol.getJsDocTags(checker).map(({ text }) => ts.displayPartsToString(text));
    return [ts.displayPartsToString(symbol.getDocumentationComment(checker)), ...tags].join('\n').trim();
  }

  function visitMembers(type: ts.Type, name: string): void {
    if (type.isUnion()) for (const part of type.types) visitMembers(part, name);
    for (const member of type.getProperties()) {
      if (member.name.includes('#') || isHidden(member)) continue;
      visit(member, `${name}.${member.name}`);
      const [declaration] = member.declarations ?? [];
      if (declaration) visitType(checker.getTypeOfSymbolAtLocation(member, declaration), `${name}.${member.name}`);
    }
  }

  /** Types that are reached by a member: a class that has no export of its own, an object that has no name. */
  function visitType(type: ts.Type, name: string): void {
    const bare = checker.getNonNullableType(type);
    for (const argument of checker.getTypeArguments(bare as ts.TypeReference)) visitType(argument, name);
    const symbol = bare.aliasSymbol ?? bare.getSymbol();
    if (!symbol || seen.has(symbol) || !isOurs(symbol)) return;
    if (symbol.flags & ts.SymbolFlags.TypeLiteral) {
      seen.add(symbol);
      visitMembers(bare, name);
    } else if (symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias))
      visit(symbol, symbol.name);
  }

  for (const entry of ENTRY_POINTS) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry) as ts.SourceFile) as ts.Symbol;
    for (const symbol of checker.getExportsOfModule(module))
      visit(symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol, symbol.name);
  }
  return entries;
}

describe('doc comments', () => {
  let entries: Entry[];
  before(() => {
    entries = publicSymbols();
  });

  it('exist for every exported symbol and every member', () => {
    const without = entries.filter(({ text }) => text === '').map(({ name }) => name);
    console.log(`      ${entries.length - without.length} of ${entries.length} symbols`);
    expect(entries.length).to.be.greaterThan(300);
    expect(without).to.deep.equal([]);
  });

  it('name no document that readers do not have', () => {
    const foreign = entries.filter(({ text }) =>
      /specification|ingest protocol|section \d|\(\d+(\.\d+)+\)/i.test(text),
    );
    expect(foreign.map(({ name, text }) => `${name}: ${text}`)).to.deep.equal([]);
  });
});
