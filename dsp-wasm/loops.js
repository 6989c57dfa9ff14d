import { Node, NodeKind } from 'assemblyscript';
import { Transform } from 'assemblyscript/transform';

/**
 * A step of the core's compilation (asconfig.json): a loop that tests its condition first becomes a test, and a loop that tests it
 * last. The engine moves what is the same in every round, such as a vector that a constant fills, out of a loop only if no way out of
 * the loop leads past it. With the test first, the way out leads past the whole body. The results are the same.
 */
export default class extends Transform {
  afterParse({ sources }) {
    for (const source of sources) if (!source.isLibrary) rewriteParts(source);
  }
}

function rewriteParts(node) {
  for (const [name, part] of Object.entries(node)) {
    if (Array.isArray(part)) node[name] = part.map(rewrite);
    else if (name !== 'range' && name !== 'source') node[name] = rewrite(part);
  }
}

/** The node, or what stands in its place. */
function rewrite(node) {
  if (!(node instanceof Node)) return node;
  rewriteParts(node);
  const isLoop = node.kind === NodeKind.For || node.kind === NodeKind.While;
  return isLoop && node.condition ? rotate(node) : node;
}

/** `for (initializer; condition; incrementor) body` becomes `initializer; if (condition) do body while (incrementor, condition)`. */
function rotate({ initializer, condition, incrementor, body, range }) {
  const again = incrementor ? Node.createCommaExpression([incrementor, condition], range) : condition;
  const loop = Node.createIfStatement(condition, Node.createDoStatement(body, again, range), null, range);
  return initializer ? Node.createBlockStatement([initializer, loop], range) : loop;
}
