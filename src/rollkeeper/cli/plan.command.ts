import type { Command } from 'commander';
import { InvalidOptionError, UnsupportedError } from '@rollkeeper/machinery/errors';
import { exactIntegerTags, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { Deployment } from '@rollkeeper/machinery/kubernetes';
import { print, runOnce } from '@rollkeeper/machinery/process';
import type { LiveDeployment } from './live-deployment.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions, outputForm, printable } from './output.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions, readNamed } from './shared-options.js';

interface PlanFlags extends ApiFlags, OutputFlags {
  readonly filename: string;
  readonly against?: string;
  readonly podByPod?: boolean;
}

const FORMS = ['json', 'yaml'] as const;

/** `rollkeeper plan`: prints the steps of a rollout without making changes. */
export function registerPlanCommand(program: Command): void {
  const command = addApiOptions(program.command('plan'), "for --against live (default: kubectl's rules)")
    .description('show the steps that a rollout would take, without changing anything')
    .requiredOption('-f, --filename <file>', 'the Deployment to apply, YAML or JSON; - for standard input')
    .option('--against <what>', 'live: start from the current state (default: from nothing)')
    .option('--pod-by-pod', 'assume that pods become ready one by one, not all together');
  addOutputOptions(command, FORMS).action((flags: PlanFlags) =>
    runOnce(async () => print(await plan(flags))),
  );
}

async function plan(flags: PlanFlags): Promise<string> {
  const form = outputForm(flags, FORMS);
  const { renderPlan, simulateRollout } = await import('../insight/plan/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  if (flags.against !== undefined && flags.against !== 'live')
    throw new InvalidOptionError('against', `must be live, not "${flags.against}"`);
  const { completeDeployment, isCustomDeployment } = await import('@rollkeeper/controllers/deployment');
  const read = await readDeployment(flags.filename);
  const wanted = isCustomDeployment(read) ? completeDeployment(read) : read;
  const live = flags.against === 'live' ? await readLive(wanted, flags) : undefined;
  const rollout = simulateRollout({
    wanted: live ? applied(wanted, live.deployment) : wanted,
    replicaSets: live?.replicaSets ?? [],
    livePods: live?.pods,
    namespaceAnnotations: live?.namespaceAnnotations,
    pods: flags.podByPod ? 'one-by-one' : 'batch',
    nowMs: new SystemClock().now(),
  });
  return form === 'text' ? renderPlan(rollout) : printable(form, rollout);
}

async function readDeployment(file: string): Promise<Deployment> {
  const { parseAllDocuments } = await import('yaml');
  const text = await readNamed('filename', file === '-' ? '/dev/stdin' : file);
  const documents = parseAllDocuments(text, { customTags: exactIntegerTags }).map((document) => {
    const [error] = document.errors;
    if (error) throw new InvalidOptionError('filename', `${file}: ${error.message}`);
    const object: unknown = document.toJS();
    return object;
  });
  const deployments = documents.filter(isDeployment);
  const [deployment] = deployments;
  if (!deployment || deployments.length > 1)
    throw new UnsupportedError(`${file} contains ${deployments.length} Deployments; a plan needs one`);
  for (const [field, value] of NEEDED_FIELDS) {
    if (!isJsonObject(value(deployment)) && typeof value(deployment) !== 'string')
      throw new InvalidOptionError('filename', `${file}: the Deployment has no ${field}`);
  }
  return deployment;
}

/** By its kind; the fields that a plan needs are checked. */
function isDeployment(object: unknown): object is Deployment {
  return isJsonObject(object) && object['kind'] === 'Deployment';
}

/** Without these fields a plan is impossible; the server reports other errors. */
const NEEDED_FIELDS: readonly (readonly [
  field: string,
  value: (deployment: Partial<Deployment>) => unknown,
])[] = [
  ['metadata.name', ({ metadata }) => metadata?.name],
  ['spec', ({ spec }) => spec],
  ['spec.selector', ({ spec }) => spec?.selector],
  ['spec.template', ({ spec }) => spec?.template],
];

async function readLive(
  { apiVersion, metadata }: Deployment,
  flags: PlanFlags,
): Promise<LiveDeployment | undefined> {
  const { readLiveDeployment } = await import('./live-deployment.js');
  const { withApi } = await import('./with-api.js');
  const { unlessGone } = await import('@rollkeeper/client/api-client');
  const ref = { namespace: metadata.namespace ?? 'default', name: metadata.name };
  return withApi(flags, (client) => unlessGone(readLiveDeployment(client, ref, apiVersion)));
}

/**
 * The result of `kubectl apply`, accurate enough for a plan: the file's fields over the live object. Lists such as
 * containers come from the file; fields that the server filled in are kept if the file omits them.
 */
function applied(wanted: Deployment, live: Deployment): Deployment {
  const spec = merge(live.spec, wanted.spec) as Deployment['spec'];
  const annotations = { ...live.metadata.annotations, ...wanted.metadata.annotations };
  return { ...live, metadata: { ...live.metadata, annotations }, spec };
}

function merge(below: unknown, above: unknown): unknown {
  if (Array.isArray(below) && Array.isArray(above)) {
    const byName = new Map(below.map((item: unknown) => [nameOf(item), item]));
    return above.map((item: unknown) =>
      nameOf(item) === undefined ? item : merge(byName.get(nameOf(item)), item),
    );
  }
  if (!isJsonObject(below) || !isJsonObject(above)) return above === undefined ? below : above;
  const fields = new Set([...Object.keys(below), ...Object.keys(above)]);
  return Object.fromEntries([...fields].map((field) => [field, merge(below[field], above[field])]));
}

function nameOf(item: unknown): unknown {
  return isJsonObject(item) ? item['name'] : undefined;
}
