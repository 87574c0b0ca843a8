const compiled = new Map<string, RegExp | undefined>();
const MAX_KEPT = 10_000;

/**
 * A pattern of a schema. It is written for Go's expressions, of which these understand nearly everything; what stands
 * for the beginning, the end and whole flags there is translated.
 * @returns undefined for one that cannot be read; its definition would have been refused
 */
export function compilePattern(pattern: string): RegExp | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern);
  if (compiled.size >= MAX_KEPT) compiled.clear();
  const found = tryCompile(pattern);
  compiled.set(pattern, found);
  return found;
}

function tryCompile(pattern: string): RegExp | undefined {
  const flags = /^\(\?([ims]+)\)/.exec(pattern);
  const source = pattern
    .slice(flags?.[0].length ?? 0)
    .replaceAll('\\A', '^')
    .replaceAll('\\z', '$');
  for (const more of ['u', '']) {
    try {
      return new RegExp(source, `${flags?.[1] ?? ''}${more}`);
    } catch {
      continue;
    }
  }
  return undefined;
}
