import type { ApiClient } from '@rollkeeper/client/api-client';
import { isNotFound } from '@rollkeeper/client/api-client';
import type {
  ExperimentFile,
  ExperimentPlan,
  FileCheck,
  ResolvedTemplate,
} from '@rollkeeper/controllers/deployment';
import {
  LONGEST_PLAN,
  experimentId,
  experimentKeeper,
  experimentMember,
  experimentService,
  plannedTemplate,
  portsOf,
  renderPlan,
} from '@rollkeeper/controllers/deployment';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Deployment } from '@rollkeeper/machinery/kubernetes';
import { ConfigMap, ReplicaSet, Service, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { DeploymentObjects } from './resolve-template.js';
import { resolveTemplate } from './resolve-template.js';

/** The parts with which an experiment begins. */
export interface ExperimentParts {
  readonly client: ApiClient;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: RandomSource;
  readonly signal: AbortSignal;
  /** Finds a Deployment of the namespace; undefined if there is none. */
  readonly findDeployment: (name: string) => Promise<Deployment | undefined>;
}

/**
 * Makes the objects of an experiment, with the rights of the user: first the ReplicaSet that keeps it, so that a
 * replica ends it also if this process dies before the rest is made. If the API refuses one, those that were made are removed.
 * @returns the name of the experiment
 * @throws InvalidOptionError naming the field of the file; what the client throws
 */
export async function beginExperiment(
  file: ExperimentFile,
  namespace: string,
  parts: ExperimentParts,
): Promise<string> {
  const { client, clock, random, signal } = parts;
  const resolved = await resolveTemplates(file, namespace, parts);
  const id = experimentId(file.name, random);
  const plan: ExperimentPlan = {
    name: file.name,
    durationMs: file.duration,
    startWithinMs: file.startWithin,
    keepMs: file.keep,
    templates: resolved.map((each) => plannedTemplate(id, each)),
    checks: await checksOf(file, namespace, parts),
  };
  if (renderPlan(plan).length > LONGEST_PLAN)
    throw refused('checks', `have more than ${LONGEST_PLAN} characters together`);
  const wanted = experimentKeeper({ id, namespace }, plan, resolved[0]?.pods ?? {});
  const keeper = await client.create<ReplicaSet>(ReplicaSet, wanted, { signal });
  try {
    for (const each of resolved) {
      const member = experimentMember(keeper, plan, each, clock.now());
      const made = await client.create<ReplicaSet>(ReplicaSet, member, { signal });
      const ports = portsOf(each);
      if (ports) await client.create<Service>(Service, experimentService(made, ports), { signal });
    }
  } catch (error) {
    await removeAll(keeper, client);
    throw error;
  }
  return id;
}

/** The keeper takes the others with it. If it may not be deleted, the experiment fails when its pods are not available in time. */
async function removeAll({ metadata }: ReplicaSet, client: ApiClient): Promise<void> {
  await client
    .delete(ReplicaSet, metadata, { preconditions: { uid: metadata.uid }, propagationPolicy: 'Background' })
    .catch(() => undefined);
}

async function resolveTemplates(
  { templates }: ExperimentFile,
  namespace: string,
  { client, findDeployment, signal }: ExperimentParts,
): Promise<readonly ResolvedTemplate[]> {
  const names = new Set(templates.flatMap(({ deployment }) => deployment ?? []));
  const replicaSets =
    names.size === 0 ? [] : (await client.list<ReplicaSet>(ReplicaSet, { namespace, signal })).items;
  const found = new Map<string, DeploymentObjects>();
  for (const name of names) {
    const deployment = await findDeployment(name);
    if (deployment) found.set(name, { deployment, replicaSets });
  }
  return templates.map((asked, index) => {
    const resolved = resolveTemplate(asked, found.get(asked.deployment ?? ''));
    if ('problem' in resolved) throw refused(`templates.${index}.${resolved.field}`, resolved.problem);
    if (portsOf(resolved)?.length === 0)
      throw refused(`templates.${index}.service`, 'names no ports, and its containers have none');
    return resolved;
  });
}

/** By default the last template is judged, beside the first one. */
async function checksOf(
  { checks, templates }: ExperimentFile,
  namespace: string,
  parts: Pick<ExperimentParts, 'client' | 'signal'>,
): Promise<ExperimentPlan['checks']> {
  const [first, last] = [templates[0]?.name ?? '', templates.at(-1)?.name ?? ''];
  return Promise.all(
    checks.map(async (check, index) => {
      const of = check.of ?? (check.against === last ? first : last);
      const against = check.against ?? (of === first ? last : first);
      const definition = await definitionOf(check, index, namespace, parts);
      return { name: check.name, of, against, definition };
    }),
  );
}

/** A definition in a ConfigMap is read by the author, once: what the controller measures is in the experiment. */
async function definitionOf(
  { check, configMap: name, key, name: checkName }: FileCheck,
  index: number,
  namespace: string,
  { client, signal }: Pick<ExperimentParts, 'client' | 'signal'>,
): Promise<string> {
  if (name === undefined) return stringifyJson(check);
  try {
    const { data = {} } = await client.get<ConfigMap>(ConfigMap, { namespace, name }, { signal });
    const text = data[key ?? checkName];
    if (text !== undefined) return text;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw refused(`checks.${index}.configMap`, `there is no ConfigMap ${name}`);
  }
  throw refused(`checks.${index}.key`, `ConfigMap ${name} has no key ${key ?? checkName}`);
}

function refused(field: string, problem: string): InvalidOptionError {
  return new InvalidOptionError('filename', `${field}: ${problem}`);
}
