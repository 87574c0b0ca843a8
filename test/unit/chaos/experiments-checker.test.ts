import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../src/machinery/kubernetes/index.js';
import { ExperimentsChecker } from '../../chaos/checkers/experiments.js';
import { StoreReplay } from '../../chaos/checkers/store-replay.js';
import type { RecordedKind } from '../../chaos/history.js';

const P = 'rollkeeper.dev/';
const OWNER = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'web' };

/** A Deployment whose newest version is at its second step, an experiment. */
function atExperiment() {
  const replay = new StoreReplay();
  const checker = new ExperimentsChecker(replay);
  let revision = 0;
  const change = (kind: RecordedKind, name: string, rest: object, deleted = false): readonly string[] => {
    revision += 1;
    const object = { apiVersion: 'apps/v1', kind, ...rest } as KubernetesObject;
    const event = { kind, deleted, object, resourceVersion: String(revision), seenAtMs: revision };
    const found = checker.check(event);
    replay.apply(event);
    return found.map(({ problem }) => problem.replace(/ \(revision.*/, ''));
  };
  const moveTo = (done: number): void => {
    const step = JSON.stringify({ revision: '2', done });
    const annotations = { [`${P}step`]: step, 'deployment.kubernetes.io/revision': '2' };
    const metadata = {
      name: 'web-2',
      uid: 'web-2',
      annotations,
      ownerReferences: [{ ...OWNER, controller: true }],
    };
    change('ReplicaSet', 'web-2', { metadata, spec: { replicas: 1 } });
  };
  const make = (
    side: string,
    replicas: number,
    { app = 'none', controller = false, deleted = false } = {},
  ) => {
    const uid = `${side}-${replicas}`;
    const labels = { [`${P}experiment`]: 'x1', [`${P}experiment-side`]: side };
    const metadata = {
      name: uid,
      uid,
      labels,
      ownerReferences: [{ ...OWNER, ...(controller && { controller }) }],
    };
    const template = { metadata: { labels: { app } } };
    return change('ReplicaSet', uid, { metadata, spec: { replicas, template } }, deleted);
  };
  const annotations = { [`${P}steps`]: '1; experiment 2s: baseline 1, canary 2; 50%' };
  change('Deployment', 'web', {
    metadata: { name: 'web', uid: 'web', generation: 1, annotations },
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: { observedGeneration: 1 },
  });
  moveTo(1);
  return { make, moveTo };
}

describe('the check of experiments in steps', () => {
  it('lets a step have a ReplicaSet of each of its versions, again once it has gone', () => {
    const { make } = atExperiment();
    expect(make('baseline', 1)).toEqual([]);
    expect(make('canary', 2)).toEqual([]);
    make('canary', 2, { deleted: true });
    expect(make('canary', 2)).toEqual([]);
  });

  it('finds one of a version that no step asks for, and one with other pods than asked for', () => {
    const { make, moveTo } = atExperiment();
    expect(make('canary', 3)).toEqual(['no version is at a step that asks for 3 pods of canary']);
    moveTo(2);
    expect(make('baseline', 1)).toEqual(['no version is at a step that asks for 1 pods of baseline']);
  });

  it('finds a second one of a version', () => {
    const { make } = atExperiment();
    make('canary', 2);
    expect(make('canary', 1)).toContain('there is another ReplicaSet of the version canary');
  });

  it('finds one that the Deployment counts, by its owner or by the labels of its pods', () => {
    const { make } = atExperiment();
    expect(make('canary', 2, { controller: true })).toEqual([
      'the Deployment controls the ReplicaSet of an experiment',
    ]);
    expect(make('baseline', 1, { app: 'web' })).toEqual(['its pods are selected by the Deployment']);
  });
});
