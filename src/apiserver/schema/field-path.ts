import type { FieldDecoder } from './field-decoder.js';

/** A key of a map, which Go has in the paths of unknown fields alone. */
export interface MapKey {
  readonly key: string;
}

/** From the root of a document to a value. */
export type FieldPath = readonly (string | number | MapKey)[];

/**
 * The path in Go's errors: without list indexes, with embedded structs. Metadata of what users define is read by itself.
 */
export function goPath(path: FieldPath, root: FieldDecoder): string {
  const parts: string[] = [];
  let decoder: FieldDecoder | undefined = root;
  for (const part of path) {
    if (typeof part === 'string') {
      const inside: string | undefined = decoder?.inside[part];
      parts.push(inside === undefined ? part : `${inside}.${part}`);
      decoder = decoder?.properties.get(part);
    }
    while (decoder?.items) decoder = decoder.items;
  }
  return (root.structural ? parts.slice(1) : parts).join('.');
}

/** Path in Kubernetes' notation: `spec.template.spec.containers[0].image`. */
export function showPath(path: FieldPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    const name = typeof part === 'string' ? part : part.key;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}
