import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  genuineControllerElsewhere,
  genuineControllersElsewhere,
  CONTROLLERS,
  findController,
} from './registry.js';

/** `| there | here | what it does | runs by default |` */
const ROW = /^\| `([a-z-]+-controller)` +\| (.+?) +\| (.+?) +\| (everywhere|standalone|—) +\|$/gm;

interface Row {
  readonly there: string;
  readonly here: string;
  readonly byDefault: string;
}

function documented(): Row[] {
  const text = readFileSync(new URL('../../docs/CONTROLLERS.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(ROW)];
  return rows.map(([, there = '', here = '', , byDefault = '']) => ({ there, here, byDefault }));
}

const ownName = ({ here }: Row): string | undefined => /^`([a-z-]+)`$/.exec(here)?.[1];

describe('the table of kube-controller-manager’s controllers in docs/CONTROLLERS.md', () => {
  const rows = documented();

  it.each(rows.filter(ownName))('says of $there what runs here, and where by default', (row) => {
    const controller = findController(ownName(row) ?? '', CONTROLLERS);
    expect(controller?.byDefault ?? 'everywhere').toBe(row.byDefault);
    expect(findController(row.there, CONTROLLERS)?.name).toBe(ownName(row));
    expect(genuineControllerElsewhere(row.there)).toBeUndefined();
  });

  it.each(rows.filter((row) => !ownName(row)))(
    'says of $there that no controller here does its work',
    (row) => {
      expect(genuineControllerElsewhere(row.there)).toBe(row.there);
      expect(row.byDefault).toBe('—');
    },
  );

  it('has every controller that runs here under a genuine name, and every name that is only accepted', () => {
    const there = new Set(rows.map((row) => row.there));
    expect(genuineControllersElsewhere().filter((name) => !there.has(name))).toEqual([]);
    // The one that has no genuine counterpart.
    const own = new Set([...rows.map(ownName), 'volume-provisioner']);
    expect(CONTROLLERS.map(({ name }) => name).filter((name) => !own.has(name))).toEqual([]);
    expect(there.size).toBe(rows.length);
  });
});
