import { describe, expect, it } from 'vitest';
import type { ControllerRevision } from '../shared/index.js';
import { decideOldRevisions, decideRevision } from './decide-revisions.js';

const template = (image: string) => ({ spec: { containers: [{ name: 'c', image }] } });
const aRevision = (image: string, revision: number): ControllerRevision => ({
  ...{ apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: `web-${image}` } },
  data: { spec: { template: { ...template(image), $patch: 'replace' } } },
  revision,
});
const [a, b, c] = [aRevision('a', 1), aRevision('b', 2), aRevision('c', 3)];

describe('the revision of a template', () => {
  it('is the newest one where that is the same', () => {
    expect(decideRevision(template('b'), [b, a])).toEqual({ kind: 'known', update: b });
  });

  it('becomes the newest one where it was there before', () => {
    expect(decideRevision(template('a'), [a, b, c])).toEqual({ kind: 'renumber', update: a, revision: 4 });
  });

  it('is made where there is none', () => {
    expect(decideRevision(template('x'), [a, b])).toEqual({ kind: 'create', revision: 3 });
    expect(decideRevision(template('x'), [])).toEqual({ kind: 'create', revision: 1 });
  });
});

it('old revisions go beyond the limit, those in use not counted', () => {
  const names = (limit: number) =>
    decideOldRevisions([c, a, b], (each) => each === c, limit).map(({ metadata }) => metadata.name);
  expect(names(2)).toEqual([]);
  expect(names(1)).toEqual(['web-a']);
  expect(names(0)).toEqual(['web-a', 'web-b']);
});
