import { describe, expect, it } from 'vitest';
import { OWN_RULES } from './rollout-rules.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import {
  appendToHistory,
  byRevision,
  lastRevision,
  newReplicaSetAnnotations,
  nextRevision,
  readRevision,
} from './revision.js';

const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';

describe('the annotations of the new ReplicaSet', () => {
  it('are those of the Deployment, but for what belongs to the Deployment alone', () => {
    const deployment = {
      'kubernetes.io/change-cause': 'edit',
      [REVISION]: '7',
      'deprecated.deployment.rollback.to': '1',
    };
    expect(newReplicaSetAnnotations(deployment, {}, 3n)).toEqual({
      'kubernetes.io/change-cause': 'edit',
      [REVISION]: '3',
    });
  });

  it('keep the revisions that it served before', () => {
    const once = newReplicaSetAnnotations({}, { [REVISION]: '1' }, 3n);
    expect(once).toEqual({ [REVISION]: '3', [HISTORY]: '1' });
    expect(newReplicaSetAnnotations({}, once, 5n)).toEqual({ [REVISION]: '5', [HISTORY]: '1,3' });
  });

  it('a revision never goes back, and one that is no number is left alone', () => {
    expect(newReplicaSetAnnotations({}, { [REVISION]: '9' }, 3n)).toEqual({ [REVISION]: '9' });
    expect(newReplicaSetAnnotations({}, { [REVISION]: 'mine' }, 3n)).toEqual({ [REVISION]: 'mine' });
  });

  it('a history that grows too long loses its beginning', () => {
    let history = '';
    for (let revision = 1; revision < 1000; revision++) history = appendToHistory(history, String(revision));
    expect(history.length).toBeLessThanOrEqual(2000);
    expect(history.endsWith(',998,999')).toBe(true);
  });
});

/** If created in the same second, the name decides which is older. */
function withRevision(revision: string | undefined, name = 'a'): ReplicaSetDraft {
  return {
    name,
    labels: {},
    selector: {},
    template: {},
    status: {},
    replicas: 0,
    minReadySeconds: 0,
    annotations: revision === undefined ? {} : { [REVISION]: revision },
    ownerReferences: [],
    deleted: false,
  };
}

function withRevisions(...revisions: (string | undefined)[]): ReplicaSetDraft[] {
  return revisions.map((revision) => withRevision(revision));
}

describe('a revision', () => {
  it.each([
    [undefined, 0n],
    ['7', 7n],
    ['3546343826724305832', 3546343826724305832n],
    ['9223372036854775807', 9223372036854775807n],
    ['9999999999999999999', undefined],
    ['mine', undefined],
    ['', undefined],
  ])('written as %s is an int64, or none', (text, revision) => {
    expect(readRevision(text === undefined ? undefined : { [REVISION]: text })).toBe(revision);
  });

  it('follows the highest of the old ones, to the last digit', () => {
    expect(nextRevision([], OWN_RULES)).toBe(1n);
    expect(nextRevision(withRevisions('1', '3546343826724305832', '9'), OWN_RULES)).toBe(
      3546343826724305833n,
    );
  });

  it('follows those that can be read and followed, as if the others had none', () => {
    expect(nextRevision(withRevisions('9999999999999999999', '4', undefined, 'mine'), OWN_RULES)).toBe(5n);
    expect(nextRevision(withRevisions('9223372036854775807', '4'), OWN_RULES)).toBe(5n);
    expect(nextRevision(withRevisions('-5'), OWN_RULES)).toBe(1n);
  });

  it('before the newest is the second highest', () => {
    expect(lastRevision(withRevisions('3546343826724305832', '2', '3546343826724305833'))).toBe(
      3546343826724305832n,
    );
    expect(lastRevision(withRevisions('3'))).toBe(0n);
    expect(lastRevision(withRevisions('3', '-2'))).toBe(0n);
  });

  it("one beyond int64 is nobody's to overwrite, and one below the computed is replaced", () => {
    const beyond = { [REVISION]: '9999999999999999999' };
    expect(newReplicaSetAnnotations({}, beyond, 3n)).toEqual(beyond);
    expect(newReplicaSetAnnotations({}, { [REVISION]: '9007199254740992' }, 9007199254740993n)).toEqual({
      [REVISION]: '9007199254740993',
      [HISTORY]: '9007199254740992',
    });
  });
});

describe('the order of revisions', () => {
  it('is that of the numbers, and of creation where they say nothing', () => {
    const sets = [
      withRevision('3546343826724305833', 'd'),
      withRevision('10', 'c'),
      withRevision('9', 'b'),
      withRevision('10', 'a'),
      withRevision('3546343826724305832', 'e'),
    ];
    expect(sets.sort(byRevision).map(({ name }) => name)).toEqual(['b', 'a', 'c', 'e', 'd']);
    const unreadable = [withRevision('1', 'b'), withRevision('mine', 'a')];
    expect(unreadable.sort(byRevision).map(({ name }) => name)).toEqual(['a', 'b']);
  });
});
