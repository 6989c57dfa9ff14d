import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/**
 * The constants of the files assembly/FOLDER/tuning.ts, alone or in the namespace of a step, `export namespace STEP { … }`. Each is
 * documented by a comment that ends in `[unit; origin]` or `[unit; origin: explanation]`, see CONTRIBUTING.md.
 */

/** The source code of the core. */
export const ASSEMBLY = new URL('assembly/', import.meta.resolve('@device-insights/dsp-wasm/package.json'));

const ORIGINS = ['cited', 'derived', 'fitted', 'chosen'] as const;
/** Where a value comes from; what is derived from something else cannot be changed alone. */
export type Origin = (typeof ORIGINS)[number];

/** Units of values between 0 and 1. */
const BOUNDED: readonly string[] = ['share', 'probability', 'correlation'];
const UNITS: readonly string[] = [
  ...BOUNDED,
  ...['s', 'steps/s', 'Hz', 'bpm', '1/min', 'g', 'counts', 'grid samples', 'bins', 'beats', 'intervals', 'periods'],
  ...['ratio', 'log ratio', 'log power', 'odds', 'log odds', 'weight', 'exponent', 'degree', 'deviations', 'skewness'],
  'tenths',
  'units',
  'windows',
];

export interface Constant {
  /** Folder of its tuning.ts. */
  readonly folder: string;
  /** `STEP.NAME` if it is in the namespace of a step. */
  readonly name: string;
  readonly type: 'i32' | 'f32' | 'f64';
  /** null for an expression of other constants. */
  readonly value: number | null;
  /** What it is: its comment without the brackets. */
  readonly what: string;
  readonly unit: string;
  readonly origin: Origin;
  /** What its brackets say of the origin; none of a chosen one. */
  readonly source: string;
}

/** The constants of all folders. @throws Error that names the constant whose comment or value cannot be read */
export function readConstants(): Constant[] {
  return tuningFolders().flatMap((folder) => parseConstants(readTuning(folder), folder));
}

function tuningFolders(): string[] {
  const entries = readdirSync(ASSEMBLY, { recursive: true, encoding: 'utf8' });
  return entries.filter((entry) => entry.endsWith('/tuning.ts')).map((entry) => entry.slice(0, -'/tuning.ts'.length));
}

function readTuning(folder: string): string {
  return readFileSync(new URL(`${folder}/tuning.ts`, ASSEMBLY), 'utf8');
}

/** The constants of the text of a folder's tuning.ts. @throws as readConstants */
export function parseConstants(text: string, folder: string): Constant[] {
  return declarations(text).map(({ name, statement, declaration }) => {
    const fault = (what: string) => new Error(`assembly/${folder}/tuning.ts: ${name}: ${what}`);
    const type = declaration.type?.getText();
    if (type !== 'i32' && type !== 'f32' && type !== 'f64') throw fault('its type must be i32, f32 or f64');
    const value = numberOf(declaration.initializer);
    const documented = /^(.*\S)\s+\[([^;[\]]+); (\w+)(: [^[\]]+)?\]$/s.exec(commentOf(statement));
    if (!documented) throw fault('its comment must end in [unit; origin] or [unit; origin: explanation]');
    const [, what = '', unit = '', word] = documented;
    const origin = ORIGINS.find((known) => known === word);
    if (!UNITS.includes(unit)) throw fault(`unknown unit ${unit}; the units are ${UNITS.join(', ')}`);
    if (!origin) throw fault(`unknown origin ${word}; the origins are ${ORIGINS.join(', ')}`);
    if (origin !== 'chosen' && !documented[4]) throw fault(`add its source: [${unit}; ${origin}: …]`);
    if (value === null && origin !== 'derived')
      throw fault('an expression is derived; give a number where one is chosen');
    const source = (documented[4] ?? '').slice(2).replace(/\s+/g, ' ');
    return { folder, name, type, value, what: what.replace(/\s+/g, ' '), unit, origin, source };
  });
}

/** The text of a tuning.ts in which each number is an import of the module, from the namespace `folder`. */
export function withImports(text: string, folder: string): string {
  let result = text;
  for (const { name, statement, declaration } of declarations(text).toReversed()) {
    if (numberOf(declaration.initializer) === null) continue;
    const own = `${declaration.name.getText()}: ${declaration.type?.getText()}`;
    const imported = `@external("${folder}", "${name}") export declare const ${own};`;
    result = result.slice(0, statement.getStart()) + imported + result.slice(statement.getEnd());
  }
  return result;
}

interface Declared {
  /** With that of its namespace, if it is in one. */
  readonly name: string;
  readonly statement: ts.VariableStatement;
  readonly declaration: ts.VariableDeclaration;
}

/** The constants of a file and of its namespaces, in their order. */
function declarations(text: string): Declared[] {
  return declaredIn(ts.createSourceFile('tuning.ts', text, ts.ScriptTarget.Latest, true).statements, '');
}

function declaredIn(statements: readonly ts.Statement[], prefix: string): Declared[] {
  return statements.flatMap((statement) => {
    if (ts.isVariableStatement(statement)) {
      const { declarations } = statement.declarationList;
      return declarations.map((one) => ({ name: prefix + one.name.getText(), statement, declaration: one }));
    }
    if (!ts.isModuleDeclaration(statement) || !statement.body || !ts.isModuleBlock(statement.body)) return [];
    return declaredIn(statement.body.statements, `${prefix}${statement.name.text}.`);
  });
}

function commentOf(statement: ts.VariableStatement): string {
  const comment = ts.getJSDocCommentsAndTags(statement).find(ts.isJSDoc)?.comment;
  return ts.getTextOfJSDocComment(comment) ?? '';
}

/** The number that an expression is, null if it is another one. */
function numberOf(expression: ts.Expression | undefined): number | null {
  if (!expression) return null;
  if (ts.isNumericLiteral(expression)) return Number(expression.text);
  const isMinus = ts.isPrefixUnaryExpression(expression) && expression.operator === ts.SyntaxKind.MinusToken;
  return isMinus && ts.isNumericLiteral(expression.operand) ? -Number(expression.operand.text) : null;
}
