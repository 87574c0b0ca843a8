import { defaultDeployment } from '@rollkeeper/machinery/defaults';
import type {
  Amounts,
  DeepReadonly,
  PodSpec,
  PodTemplateSpec,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import {
  Deployment,
  RollkeeperDeployment,
  apiVersionOf,
  canonicalQuantity,
  isJsonObject,
  writableCopy,
} from '@rollkeeper/machinery/kubernetes';
import { customTemplateHash, podTemplateHash } from './pod-template.js';

/** The APIs for Deployments: Kubernetes' own, and the equivalent custom resource. */
export const DEPLOYMENT_APIS = ['apps/v1', 'rollkeeper.dev/v1'] as const;
export type DeploymentApi = (typeof DEPLOYMENT_APIS)[number];

const TYPES: Readonly<Record<DeploymentApi, ResourceType>> = {
  'apps/v1': Deployment,
  'rollkeeper.dev/v1': RollkeeperDeployment,
};

export function deploymentTypeOf(api: DeploymentApi): ResourceType {
  return TYPES[api];
}

/** Whether it is the custom resource, without the API server's defaults and counts. */
export function isCustomDeployment({ apiVersion }: DeepReadonly<Deployment>): boolean {
  return apiVersion === apiVersionOf(RollkeeperDeployment);
}

/** The type under which a Deployment is read and written. */
export function typeOfDeployment(deployment: DeepReadonly<Deployment>): ResourceType {
  return isCustomDeployment(deployment) ? RollkeeperDeployment : Deployment;
}

/**
 * Applies Kubernetes' defaults for Deployments and canonicalizes quantities, so that the template equals that of the
 * ReplicaSet made from it. Changes and returns `deployment`.
 */
export function completeDeployment(deployment: Deployment): Deployment {
  delete deployment.metadata.managedFields;
  defaultDeployment(deployment);
  const { spec } = deployment.spec.template;
  if (spec) writeAsKubernetesDoes(spec);
  return deployment;
}

/**
 * A Deployment of either API as its controller reads it: one of rollkeeper.dev/v1 has the defaults that Kubernetes gives, so that its
 * template compares with those of ReplicaSets. A copy, where anything is added.
 */
export function completed<T extends DeepReadonly<Deployment>>(deployment: T): T {
  return isCustomDeployment(deployment)
    ? (completeDeployment(writableCopy<Deployment>(deployment)) as T)
    : deployment;
}

function writeAsKubernetesDoes(spec: PodSpec): void {
  const { containers = [], initContainers = [], overhead, resources, volumes = [] } = spec;
  for (const each of [...containers, ...initContainers]) {
    canonicalize(each.resources?.limits);
    canonicalize(each.resources?.requests);
    for (const variable of each.env ?? []) {
      if (variable.value === '') delete variable.value;
      canonicalizeField(variable.valueFrom?.resourceFieldRef, 'divisor');
    }
  }
  for (const amounts of [overhead, resources?.limits, resources?.requests]) canonicalize(amounts);
  for (const { emptyDir, ephemeral } of volumes) {
    canonicalizeField(emptyDir, 'sizeLimit');
    canonicalize(ephemeral?.volumeClaimTemplate?.spec.resources?.requests);
  }
}

function canonicalize(amounts: Amounts | undefined): void {
  for (const name of Object.keys(amounts ?? {})) canonicalizeField(amounts, name);
}

/** An invalid quantity is kept: the API server reports it when a ReplicaSet is created. */
function canonicalizeField(object: object | undefined, name: string): void {
  if (!isJsonObject(object)) return;
  const value = object[name];
  if (typeof value !== 'string' && typeof value !== 'number') return;
  object[name] = canonicalQuantity(String(value)) ?? value;
}

/** Identifies a template of the Deployment, also after its ReplicaSet was deleted. @default the one that it asks for */
export function templateHashOf(
  deployment: DeepReadonly<Deployment>,
  template: DeepReadonly<PodTemplateSpec> = deployment.spec.template,
): string {
  return isCustomDeployment(deployment) ? customTemplateHash(template) : podTemplateHash(template);
}

/** The equality part of the selector: enough to keep the list short; the owner decides. */
export function selectorEqualities(deployment: DeepReadonly<Deployment>): string | undefined {
  const labels = Object.entries(deployment.spec.selector.matchLabels ?? {});
  return labels.length === 0 ? undefined : labels.map(([key, value]) => `${key}=${value}`).join(',');
}
