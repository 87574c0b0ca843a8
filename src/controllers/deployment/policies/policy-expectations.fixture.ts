import { expect } from 'vitest';
import type { ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { ConfigMap, Service } from '../../../runtime/index.js';
import { pinnedConfigOf, readConfigCopies } from '../../shared/index.js';
import { digestOfSource } from './config-restart/config-digests.js';
import { readRevisionEntries } from './history/history.js';
import type { PolicyWorld } from './policy-world.fixture.js';
import { isSideService } from './policy-world.fixture.js';

/** Rule 17. */
export function expectNoSideServices({ world }: PolicyWorld): void {
  const left = world.api.all<Service>(Service).filter(isSideService);
  expect(
    left.map(({ metadata }) => metadata.name),
    'rule 17',
  ).toEqual([]);
}

/** Rule 15. */
export function expectLabels({ world }: PolicyWorld): void {
  const { team } = world.deployment.spec.template.metadata?.labels ?? {};
  for (const { metadata } of world.allPods) expect(metadata.labels?.['team'], 'rule 15').toBe(team);
}

/** Rule 14: what each pod that runs reads, by its ReplicaSet. */
export function expectPinned({ world }: PolicyWorld): void {
  for (const set of world.replicaSets) {
    if (pinnedConfigOf(set.spec.template) === undefined) continue;
    const copy = readConfigCopies(set.metadata.annotations)?.['configmap/web'];
    for (const { spec } of world.podsOf(set)) {
      const name = spec.containers[0]?.envFrom?.[0]?.configMapRef?.name;
      expect(name, 'rule 14').toBe(copy?.name);
      const found = world.api.all<ConfigMap>(ConfigMap).find(({ metadata }) => metadata.name === name);
      expect(found !== undefined, 'rule 14, a copy of what was there').toBe(copy?.digest !== undefined);
      if (found) expect(digestOfSource('configmap', found as never), 'rule 14').toBe(copy?.digest);
    }
  }
}

/** Rule 8. */
export function expectHistory(replicaSet: ReplicaSet | undefined): void {
  const { annotations } = replicaSet?.metadata ?? {};
  const [newest] = readRevisionEntries(annotations);
  expect(newest, 'rule 8').toMatchObject({
    revision: annotations?.['deployment.kubernetes.io/revision'],
    ended: { as: 'complete' },
  });
}
