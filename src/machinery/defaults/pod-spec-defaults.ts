import type { Container } from '../generated/types/core-v1.js';
import { setField } from '../kubernetes/index.js';
import type { Deployment, DeploymentSpec, PodSpec, PodTemplateSpec } from '../kubernetes/index.js';
import { omitZero, defaultContainer, defaultHostPorts } from './container-defaults.js';
import { defaultVolume } from './volume-defaults.js';

/** Fields of a pod spec with a fixed default. */
const FIXED = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
} as const;

export function containersOf(spec: PodSpec): Container[] {
  const { containers, initContainers, ephemeralContainers } = spec;
  if (!initContainers && !ephemeralContainers) return containers ?? [];
  return [...(containers ?? []), ...(initContainers ?? []), ...(ephemeralContainers ?? [])];
}

/** Defaults that a pod and the pod template of a controller share. Source: pkg/apis/core/v1/defaults.go. */
export function defaultPodSpec(spec: PodSpec): void {
  spec.restartPolicy ??= FIXED.restartPolicy;
  spec.terminationGracePeriodSeconds ??= FIXED.terminationGracePeriodSeconds;
  spec.dnsPolicy ??= FIXED.dnsPolicy;
  spec.schedulerName ??= FIXED.schedulerName;
  spec.securityContext ??= {};
  defaultServiceAccount(spec);
  for (const container of containersOf(spec)) defaultContainer(container);
  if (spec.volumes) spec.volumes.forEach(defaultVolume);
  omitZero(spec, ['hostNetwork', 'hostPID', 'hostIPC']);
}

/** The deprecated field mirrors the new one. */
function defaultServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  if (name === undefined) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** Defaults of a pod template; an absent template is read as an empty one. */
export function defaultPodTemplate(owner: { template?: PodTemplateSpec }): void {
  const template = (owner.template ??= {});
  const spec: PodSpec = (template.spec ??= {} as NonNullable<PodTemplateSpec['spec']>);
  defaultPodSpec(spec);
}

/** Defaults that only a pod gets, not a template: requests from limits, service links, host ports. */
export function defaultPodOnly(spec: PodSpec): void {
  spec.enableServiceLinks ??= true;
  for (const container of containersOf(spec)) {
    if (spec.hostNetwork) defaultHostPorts(container);
    const { resources } = container;
    if (!resources?.limits) continue;
    const requests = (resources.requests ??= {});
    for (const [name, limit] of Object.entries(resources.limits)) {
      if (!Object.hasOwn(requests, name)) setField(requests, name, limit);
    }
  }
}

/** Source: SetDefaults_Deployment in pkg/apis/apps/v1/defaults.go. */
export function defaultDeployment(deployment: Deployment): void {
  const spec = (deployment.spec ??= {} as DeploymentSpec);
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  const strategy = (spec.strategy ??= {});
  strategy.type ??= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    const limits = (strategy.rollingUpdate ??= {});
    limits.maxUnavailable ??= '25%';
    limits.maxSurge ??= '25%';
  }
  defaultPodTemplate(spec);
  omitZero(spec, ['paused', 'minReadySeconds']);
}
