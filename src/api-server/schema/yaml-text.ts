import { LineCounter, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import type { Document, Node, Tags } from 'yaml';
import { exactIntegerTags } from '../../kubernetes/index.js';
import type { FieldFinding } from './object-schema.js';

/** A text that is no YAML. */
export class YamlSyntaxError extends Error {}

/** Kubernetes reads YAML 1.1 without times and numbers to the base of 60. */
const customTags = (tags: Tags): Tags =>
  exactIntegerTags(tags).filter(
    (tag) =>
      typeof tag === 'string' ||
      (!('format' in tag && tag.format === 'TIME') && !tag.tag.endsWith(':timestamp')),
  );

/** @throws YamlSyntaxError naming the line */
export function parseYaml(text: string): { value: unknown; duplicates: FieldFinding[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.1',
    customTags,
    uniqueKeys: false,
    lineCounter: lines,
    prettyErrors: false,
  });
  const [problem] = document.errors;
  if (problem) {
    throw new YamlSyntaxError(`yaml: line ${lines.linePos(problem.pos[0]).line}: ${problem.message}`);
  }
  return { value: toPlain(document), duplicates: duplicatesOf(document.contents, '') };
}

function toPlain(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new YamlSyntaxError('yaml: document contains excessive aliasing', { cause: error });
  }
}

function duplicatesOf(node: Node | null, path: string): FieldFinding[] {
  if (isSeq(node)) {
    return node.items.flatMap((item, index) => duplicatesOf(item as Node, `${path}[${index}]`));
  }
  if (!isMap(node)) return [];
  const seen = new Set<string>();
  const found: FieldFinding[] = [];
  for (const pair of node.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
    const keyPath = path === '' ? key : `${path}.${key}`;
    if (seen.has(key)) found.push({ problem: 'duplicate', path: keyPath });
    seen.add(key);
    found.push(...duplicatesOf(pair.value as Node | null, keyPath));
  }
  return found;
}
