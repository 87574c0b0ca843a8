import { describe, expect, it } from 'vitest';
import { appendToHistory, newReplicaSetAnnotations } from './revision.js';

const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';

describe('the annotations of the new ReplicaSet', () => {
  it('are those of the Deployment, but for what belongs to the Deployment alone', () => {
    const deployment = {
      'kubernetes.io/change-cause': 'edit',
      [REVISION]: '7',
      'deprecated.deployment.rollback.to': '1',
    };
    expect(newReplicaSetAnnotations(deployment, {}, 3)).toEqual({
      'kubernetes.io/change-cause': 'edit',
      [REVISION]: '3',
    });
  });

  it('keep the revisions that it served before', () => {
    const once = newReplicaSetAnnotations({}, { [REVISION]: '1' }, 3);
    expect(once).toEqual({ [REVISION]: '3', [HISTORY]: '1' });
    expect(newReplicaSetAnnotations({}, once, 5)).toEqual({ [REVISION]: '5', [HISTORY]: '1,3' });
  });

  it('a revision never goes back, and one that is no number is left alone', () => {
    expect(newReplicaSetAnnotations({}, { [REVISION]: '9' }, 3)).toEqual({ [REVISION]: '9' });
    expect(newReplicaSetAnnotations({}, { [REVISION]: 'mine' }, 3)).toEqual({ [REVISION]: 'mine' });
  });

  it('a history that grows too long loses its beginning', () => {
    let history = '';
    for (let revision = 1; revision < 1000; revision++) history = appendToHistory(history, String(revision));
    expect(history.length).toBeLessThanOrEqual(2000);
    expect(history.endsWith(',998,999')).toBe(true);
  });
});
