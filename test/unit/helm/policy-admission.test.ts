import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import {
  KNOWN,
  SETTINGS,
  isPolicyAnnotation,
} from '../../../src/controllers/deployment/policies/known-names.js';
import { valueProblem } from '../../../src/controllers/deployment/policies/compile-policy.js';
import { CHART, render } from '../support/helm.js';

interface Annotations {
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, string>>;
}

const { names, values } = parse(readFileSync(join(CHART, 'annotations.yaml'), 'utf8')) as Annotations;

/** Values of every form that settings have, right and wrong ones. */
const VALUES = [
  ...['none', 'hold', 'rollback', 'rolling', 'blue-green', 'true', 'false', 'started', 'terminated'],
  ...['one-by-one', 'surge', 'keep-spread', 'in-place', 'respect', 'ignore', 'panic', 'Rollback', 'holdhold'],
  ...['keep 3', 'keep 3, 1h', 'keep 3,1h30m', 'keep', 'keep 3 1h', 'keep 99999', 'keep 3, soon'],
  ...['90s', '1h30m', '1.5h', '2d', '5', '12', '999', '1000', '10 m', 'soon', '-1', '5m ', 'm', '1..5s'],
];

describe('the annotations that the chart’s admission policy knows', () => {
  it('has every name that a Deployment may have, and no other', () => {
    expect(names.map((name) => `rollkeeper.dev/${name}`)).toEqual([...KNOWN].toSorted());
  });

  it('has every name that the chart itself puts on its Deployments', () => {
    const deployments = render({ scheduler: { enabled: true } }).filter(({ kind }) => kind === 'Deployment');
    expect(deployments.length).toBeGreaterThan(0);
    const own = deployments.flatMap(({ metadata }) =>
      Object.keys((metadata as { annotations?: object }).annotations ?? {}),
    );
    expect(own.filter((name) => isPolicyAnnotation(name) && !KNOWN.has(name))).toEqual([]);
  });

  it.each(
    SETTINGS.flatMap((setting) =>
      values[setting] === undefined ? [] : [[setting, values[setting]] as const],
    ),
  )('takes the values of %s that the controllers take: %s', (setting, pattern) => {
    const isTaken = (value: string): boolean => new RegExp(`^(${pattern})$`).test(value.trim());
    for (const value of VALUES)
      expect([value, isTaken(value)]).toEqual([value, valueProblem(setting, value.trim()) === undefined]);
  });
});
