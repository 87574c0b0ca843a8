import { readFileSync } from 'node:fs';

const DOCUMENT = new URL('../../docs/CONTROLLERS.md', import.meta.url);

/**
 * The recorded cases that the table of deliberate differences in docs/CONTROLLERS.md names for a controller, so that a test can
 * hold what differs against what is said to differ.
 */
export function documentedDifferences(controller: string): readonly string[] {
  const rows = readFileSync(DOCUMENT, 'utf8')
    .split('\n')
    .filter((line) => new RegExp(`^\\| *\`${controller}\` *\\|`).test(line))
    .map((line) => line.split('|'))
    .filter((cells) => cells.length === TABLE_CELLS);
  return rows.flatMap((cells) =>
    [...(cells[CASES_CELL] ?? '').matchAll(/`([^`]+)`/g)].map(([, id = '']) => id),
  );
}

/** `| controller | what differs | why | recorded cases |`, with what is before the first and behind the last bar. */
const TABLE_CELLS = 6;
const CASES_CELL = 4;
