import type { Clock } from '@rollkeeper/machinery/clock';
import { TimeoutError, UnsupportedError } from '@rollkeeper/machinery/errors';
import type { Deployment, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, qualifiedResource, isControlledBy } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, ListOptions } from '@rollkeeper/client/api-client';
import { isAlreadyExists, isConflict, isNotFound, unlessGone } from '@rollkeeper/client/api-client';
import type { ConversionState, ConversionStep } from './decide-conversion.js';
import { decideConversion } from './decide-conversion.js';
import { completed, latestReplicaSet } from '@rollkeeper/controllers/deployment';
import { convertedDeployment } from './converted-deployment.js';

export interface ConversionOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly ref: Required<ObjectRef>;
  readonly from: ResourceType;
  readonly to: ResourceType;
  /** Timeout of one wait for a controller, milliseconds. @default 120000 */
  readonly timeoutMs?: number;
  /** Only reports the first step, without executing it. @default false */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
  /** Called with every step once it is done, or being waited for. */
  readonly report: (line: string) => void;
}

const LOOK_EVERY_MS = 200;

/**
 * Moves a Deployment from one API to the other without touching a pod. Executes one step at a time and looks again
 * after each, so it can be interrupted and restarted at any point.
 * @throws UnsupportedError if it is refused, with the reason; TimeoutError with what was waited for
 */
export async function runConversion(options: ConversionOptions): Promise<void> {
  const { clock, dryRun, report, signal, timeoutMs = 120_000, to } = options;
  let applied: string | undefined;
  let waiting: { readonly line: string; readonly sinceMs: number } | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const state = await observe(options);
    const step = decideConversion(state, to);
    const line = describe(step, options);
    if (step.type === 'refuse')
      throw new UnsupportedError(`${nameOf(options)} is not converted: ${step.why}`);
    if (step.type === 'done') return report(line);
    if (state.source && (step.type === 'create' || step.type === 'update' || isFirst(step, state)))
      await verifyTemplate(state.source, to, { ...state, client: options.client });
    if (dryRun) return report(`would begin with: ${line}`);
    const isApplied = await applyStep(step, options);
    // A step that was applied and is still due has been undone: it is repeated after a pause, within the time limit.
    if (isApplied && line !== applied) {
      report(line);
      applied = line;
      waiting = undefined;
      continue;
    }
    if (waiting?.line !== line) {
      waiting = { line, sinceMs: clock.monotonicNow() };
      if (isWait(step)) report(line);
    } else if (clock.monotonicNow() - waiting.sinceMs > timeoutMs) {
      throw new TimeoutError(`${line}: timed out after ${timeoutMs / 1000} s; ${hintFor(step, options)}`);
    }
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}

/** The source first: once it no longer exists, its dependents have been orphaned. */
async function observe({ client, from, ref, signal, to }: ConversionOptions): Promise<ConversionState> {
  const read = (type: ResourceType): Promise<Deployment | undefined> =>
    unlessGone(client.get<Deployment>(type, ref, { signal }));
  const [source, target] = [await read(from), await read(to)];
  const list = { namespace: ref.namespace, signal };
  const { items: replicaSets } = await client.list<ReplicaSet>(ReplicaSet, list);
  const deployments = await Promise.all([from, to].map((type) => listWhereServed(client, type, list)));
  return { source, target, replicaSets, deployments: deployments.flat() };
}

/** Empty if the definition is not installed. */
async function listWhereServed(
  client: ApiClient,
  type: ResourceType,
  options: ListOptions,
): Promise<readonly Deployment[]> {
  try {
    return (await client.list<Deployment>(type, options)).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** Returns whether something was done; false if one has to wait, or another client was faster. */
async function applyStep(step: ConversionStep, { client, from, to }: ConversionOptions): Promise<boolean> {
  try {
    if (step.type === 'pause') await client.update(from, step.object);
    else if (step.type === 'create') await client.create(to, step.object);
    else if (step.type === 'update' || step.type === 'resume') await client.update(to, step.object);
    else if (step.type === 'release') await release(client, from, step.source);
    else return false;
    return true;
  } catch (error) {
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return false;
    throw error;
  }
}

async function release(client: ApiClient, type: ResourceType, { metadata }: Deployment): Promise<void> {
  const { resourceVersion, uid } = metadata;
  await client.delete(type, metadata, {
    preconditions: { uid, resourceVersion },
    propagationPolicy: 'Orphan',
  });
}

/** Nothing has been changed yet, so check first that the conversion can succeed. */
function isFirst({ type }: ConversionStep, { target }: ConversionState): boolean {
  return type === 'pause' && !target;
}

function isWait({ type }: ConversionStep): boolean {
  return type.startsWith('await-');
}

function nameOf({ ref }: ConversionOptions): string {
  return `Deployment ${ref.namespace}/${ref.name}`;
}

function describe(step: ConversionStep, options: ConversionOptions): string {
  const [from, to] = [qualifiedResource(options.from), qualifiedResource(options.to)];
  const name = nameOf(options);
  switch (step.type) {
    case 'pause':
      return `${name}: pause it in ${from}`;
    case 'create':
      return `${name}: create it in ${to}, paused`;
    case 'update':
      return `${name}: bring it up to date in ${to}`;
    case 'await-controller':
      return `${name}: wait until the controller of ${step.of.apiVersion} has seen it`;
    case 'release':
      return `${name}: delete it in ${from}, its ReplicaSets stay`;
    case 'await-release':
      return `${name}: wait until it is gone from ${from}${step.finalizers.length > 0 ? ` (${step.finalizers.join(', ')})` : ''}`;
    case 'await-adoption':
      return `${name}: wait until the controller of ${to} has taken ${step.replicaSets.join(', ')}`;
    case 'resume':
      return `${name}: resume it in ${to}`;
    case 'done':
      return `${name} is of ${to}`;
    case 'refuse':
      return step.why;
  }
}

function hintFor(step: ConversionStep, { to }: ConversionOptions): string {
  if (step.type !== 'await-controller' && step.type !== 'await-adoption')
    return 'run the command again to go on';
  return `does a controller of ${qualifiedResource(to)} run, and of this namespace? Run the command again to go on`;
}

/**
 * Asks the server by a dry run what it would make of `source` in the other API, and whether the newest ReplicaSet of
 * the one is also the newest of the other: if not, each pod would be replaced.
 * @throws UnsupportedError if pods would be replaced, or the server does not have the API; the server's error if it
 *   refuses
 */
export async function verifyTemplate(
  source: Deployment,
  to: ResourceType,
  {
    client,
    replicaSets,
    target,
  }: Pick<ConversionState, 'replicaSets' | 'target'> & { readonly client: ApiClient },
): Promise<void> {
  const candidate = convertedDeployment(source, to, target);
  const asked = target
    ? client.update(to, candidate, { dryRun: true })
    : client.create(to, candidate, { dryRun: true });
  const answered = await asked.catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    throw new UnsupportedError(
      `the server does not have ${qualifiedResource(to)}: its CustomResourceDefinition is not installed`,
      { cause: error },
    );
  });
  const owned = replicaSets.filter((replicaSet) => isControlledBy(replicaSet, source));
  const [before, after] = [newest(source, source, owned), newest(answered, source, owned)];
  if (before === undefined || before === after) return;
  throw new UnsupportedError(
    `its pods would be replaced: what ${qualifiedResource(to)} keeps of spec.template is not what ReplicaSet ${before} was made of`,
  );
}

function newest(
  deployment: Deployment,
  { status }: Deployment,
  owned: readonly ReplicaSet[],
): string | undefined {
  return latestReplicaSet({ ...completed(deployment), status }, owned)?.metadata.name;
}
