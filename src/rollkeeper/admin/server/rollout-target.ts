import { BadRequestException, NotFoundException } from '@nestjs/common';
import { unlessGone } from '@rollkeeper/client/api-client';
import type { TemplateChange } from '@rollkeeper/controllers/deployment';
import { deploymentTypeOf } from '@rollkeeper/controllers/deployment';
import type { Deployment, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { DaemonSet, StatefulSet } from '@rollkeeper/runtime';
import type { RolloutTarget } from '../../insight/rollout/index.js';
import { findSetTarget } from '../../insight/rollout/index.js';
import type { AdminPorts } from './admin-ports.js';
import { answered } from './api-answers.js';
import type { CallerApi } from './caller-client.js';
import { deploymentCaches, findDeployment } from './find-deployment.js';
import { parseName } from './request-parsing.js';
import { showsNamespace } from './slot-replicas.js';

/** The rollout in the path of a request. */
export interface RolloutParams {
  readonly namespace: string;
  readonly name: string;
}

/** The kind of a rollout, in a query. */
export type KindQuery = Readonly<Record<'api' | 'kind', unknown>>;

/**
 * The changes that would be made, or were. They lack values that may be secret, because a user who may read this page need not be
 * allowed to read the Deployment.
 */
export interface RolloutChanges {
  readonly changes: readonly TemplateChange[];
}

/**
 * Reads a rollout from the API, with the rights of the caller. The cache may be behind, and people decide about the present state.
 * @throws BadRequestException for another kind; NotFoundException if there is none
 */
export async function findRolloutTarget(
  ports: AdminPorts,
  { api, kind, name, namespace }: RolloutParams & KindQuery,
  { client }: CallerApi,
): Promise<RolloutTarget> {
  const ref = { namespace: parseName(namespace, 'namespace'), name: parseName(name, 'name') };
  if (kind !== undefined) return { client, ...(await answered(findSetTarget(client, setTypeOf(kind), ref))) };
  for (const type of typesOf(ports, { ...ref, api })) {
    const deployment = await answered(unlessGone(client.get<Deployment>(type, ref)));
    if (deployment) return { client, type, deployment };
  }
  throw new NotFoundException({ error: `no Deployment ${namespace}/${name}` });
}

/** The types that a Deployment of this name may have. If another replica keeps it, the caches of this one do not know its type. */
function typesOf(
  ports: AdminPorts,
  named: RolloutParams & { readonly api: unknown },
): readonly ResourceType[] {
  if (showsNamespace(ports, named.namespace))
    return [deploymentTypeOf(findDeployment(ports, named).caches.apiVersion)];
  const known = deploymentCaches(ports).map(({ apiVersion }) => apiVersion);
  return known.filter((each) => named.api === undefined || named.api === each).map(deploymentTypeOf);
}

/** @throws BadRequestException */
export function setTypeOf(kind: unknown): ResourceType {
  const type = [StatefulSet, DaemonSet].find((each) => each.kind === kind);
  if (!type) throw new BadRequestException({ error: 'kind must be StatefulSet or DaemonSet' });
  return type;
}
