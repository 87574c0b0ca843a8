import type { DeploymentShape } from '../../../../testing/deployment-builder.js';
import { PolicyLab, imageOf } from '../../../../testing/policy-lab.js';
import { Pod } from '../../../../machinery/kubernetes/index.js';
import { Service } from '../../../../runtime/index.js';
import { createDeploymentController } from '../../definition.js';

export const WATCHING = createDeploymentController({ blueGreen: true });
export const HASH = 'pod-template-hash';
export const BLUE_GREEN = { strategy: 'blue-green', 'active-service': 'web', 'preview-service': 'preview' };
export const WHOLE: DeploymentShape = {
  replicas: 4,
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } },
};

export function putService(
  lab: PolicyLab,
  name: string,
  selector: Record<string, string> = { app: 'web' },
  annotations: Record<string, string> = {},
): void {
  const metadata = { namespace: 'default', name, uid: `uid-of-${name}`, annotations };
  lab.world.api.seed<Service>(Service, { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector } });
}

export function seedPod(lab: PolicyLab, owner?: { readonly kind: string; readonly name: string }): void {
  const reference = { ...owner, apiVersion: 'apps/v1', uid: 'uid-of-owner', controller: true };
  lab.world.api.seed<Pod>(Pod, {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ namespace: 'default', name: owner ? `${owner.name}-0` : 'alone', uid: 'uid-of-pod' },
      labels: { app: 'web' },
      ...(owner && { ownerReferences: [{ ...reference, ...owner }] }),
    },
    spec: { containers: [] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

export function serviceOf(lab: PolicyLab, name: string): Service | undefined {
  return lab.world.api.all<Service>(Service).find(({ metadata }) => metadata.name === name);
}

/** The image of the pods that a Service selects: `all` where it selects no version alone. */
export function served(lab: PolicyLab, name = 'web'): string | undefined {
  const service = serviceOf(lab, name);
  if (!service) return undefined;
  const hash = service.spec.selector?.[HASH];
  if (hash === undefined) return 'all';
  const set = lab.world.replicaSets.find(({ metadata }) => metadata.labels?.[HASH] === hash);
  return set ? imageOf(set) : 'nothing';
}

export async function running(
  policies: Record<string, string> = {},
  shape: DeploymentShape = WHOLE,
): Promise<PolicyLab> {
  return PolicyLab.rolledOut({ ...BLUE_GREEN, ...policies }, shape, {
    controller: WATCHING,
    prepare: (lab) => {
      putService(lab, 'web');
      putService(lab, 'preview');
    },
  });
}

export const SECOND_MS = 1000;
