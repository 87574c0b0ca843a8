import { readFileSync } from 'node:fs';

const DOCUMENT = new URL('../../docs/CONTROLLERS.md', import.meta.url);

/**
 * The recorded cases in docs/CONTROLLERS.md's table of deliberate differences for a controller, so that a test can
 * compare actual and documented differences.
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

/**
 * `| controller | what differs | why | recorded cases |`, counting the parts before the first and after the last bar.
 */
const TABLE_CELLS = 6;
const CASES_CELL = 4;
