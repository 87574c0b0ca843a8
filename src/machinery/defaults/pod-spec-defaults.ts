import type { Decoded } from '../kubernetes/index.js';
import type { Container } from '../generated/types/core-v1.js';
import { setField } from '../kubernetes/index.js';
import type { Deployment, PodSpec, PodTemplateSpec } from '../kubernetes/index.js';
import { omitZero, defaultContainer, defaultHostPorts } from './container-defaults.js';
import { defaultVolume } from './volume-defaults.js';

/** Fields of a pod spec with a fixed default. */
const FIXED = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
} as const;

export function containersOf(spec: Decoded<PodSpec>): Decoded<Container>[] {
  const { containers, initContainers, ephemeralContainers } = spec;
  if (!initContainers && !ephemeralContainers) return containers ?? [];
  return [...(containers ?? []), ...(initContainers ?? []), ...(ephemeralContainers ?? [])];
}

/** Defaults that a pod and the pod template of a controller share. Source: pkg/apis/core/v1/defaults.go. */
export function defaultPodSpec(spec: Decoded<PodSpec>): void {
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

/** The old name of the field follows the new one. */
function defaultServiceAccount(spec: Decoded<PodSpec>): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  if (name === undefined) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** Defaults of a pod template that may not even be there: an absent one reads as an empty one. */
export function defaultPodTemplate(owner: { template?: Decoded<PodTemplateSpec> }): void {
  const template = (owner.template ??= {});
  const spec: Decoded<PodSpec> = (template.spec ??= {});
  defaultPodSpec(spec);
}

/**
 * Sets the defaults that only a pod itself gets: requests follow limits, service links are on, ports of the host are
 * its own.
 */
export function defaultPodOnly(spec: Decoded<PodSpec>): void {
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
export function defaultDeployment(deployment: Decoded<Deployment>): void {
  const spec = (deployment.spec ??= {});
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
