import type { TraceLine } from '../../src/testing/simulation/index.js';

/** Lines about routine inside of one process, which explain nothing. */
const ROUTINE = /^timer$|^witness look|^lease (try|get)|queue (take|renew|check term|counts)|^claims /;

/** A trace as a sequence diagram. @param whole also what is routine. @default false */
export function mermaidOf(lines: readonly TraceLine[], { whole = false } = {}): string {
  const shown = whole ? lines : lines.filter(({ text }) => !ROUTINE.test(text));
  const names = [...new Set(shown.flatMap(({ from, to }) => [from, to]))];
  const idOf = new Map(names.map((name, index) => [name, `p${index}`]));
  return [
    'sequenceDiagram',
    ...names.map((name) => `  participant ${idOf.get(name)} as ${name}`),
    ...shown.map((line) => arrowOf(line, idOf)),
  ].join('\n');
}

function arrowOf({ atMs, from, text, to }: TraceLine, idOf: ReadonlyMap<string, string>): string {
  const at = `${(atMs / 1000).toFixed(4)} s`;
  const words = text.replaceAll(';', ',').replaceAll('#', '');
  if (from === to) return `  Note over ${idOf.get(from)}: ${at}: ${words}`;
  const arrow = /\((request|answer|event) (lost|broken)\)/.test(text) ? '-x' : '->>';
  return `  ${idOf.get(from)}${arrow}${idOf.get(to)}: ${at}: ${words}`;
}
