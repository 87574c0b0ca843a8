import type { Command } from 'commander';
import type { KindDiagnosis } from '../insight/diagnose/index.js';
import type { Explanation } from '../insight/explain/index.js';
import { objectAddress, rolloutAddress } from '../insight/object-pages/console-addresses.js';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { printError, runOnce } from '@rollkeeper/machinery/process';
import type { AdminClientFlags } from './admin-client.js';
import { NoReplicaError, addAdminOptions, askReplica, knowsReplica } from './admin-client.js';
import type { ConsoleUrlFlags } from './console-url.js';
import { addConsoleUrlOption, consoleOfReplica, consoleOfRun, namedConsole } from './console-url.js';
import type { Explained, SchedulerFileFlags } from './explained-object.js';
import { STATE_EXIT_CODES } from '../terminal/exit-codes.js';
import { EXPLAINED_FORMS, explainedObject, printExplained } from './explained-object.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions } from './output.js';
import { SCHEDULER_FILE_OPTIONS } from '../replica/scheduler-process/scheduler-options.table.js';
import { addApiOptions } from './shared-options.js';
import { addOptions } from './table-options.js';
import type { ClusterFlags } from './with-api.js';
import type { Target, TargetFlags } from './target.js';
import { TARGET_HELP, addNamespaceOption, parseTarget, refOf, typedObject } from './target.js';

interface ExplainFlags
  extends
    AdminClientFlags,
    ConsoleUrlFlags,
    SchedulerFileFlags,
    Pick<TargetFlags, 'namespace'>,
    OutputFlags,
    Pick<ClusterFlags, 'isFound'> {}

/** `rollkeeper explain`: the state of a rollout, or of an object of another kind, and what it waits for. */
export function registerExplainCommand(program: Command): void {
  const command = addConsoleUrlOption(addAdminOptions(program.command('explain')));
  const described = addNamespaceOption(addApiOptions(command, 'ask no replica; use only this API'))
    .description(
      'explain the state of a rollout or another object, what it waits for, and what would unblock it. Exit code: 0 complete or healthy, 3 under way, 4 stuck, 5 degraded, 6 paused, 7 deleting',
    )
    .argument(
      '<name...>',
      `${TARGET_HELP}; also deployments.apps and deployments.rollkeeper.dev; or KIND/NAME, KIND NAMESPACE/NAME of a pod, statefulset, daemonset, replicaset, job, cronjob, hpa, pdb, pvc, service, node, namespace, apiservice or webhook configuration`,
    );
  addOptions(addOutputOptions(described, EXPLAINED_FORMS), SCHEDULER_FILE_OPTIONS).action(
    (words: string[], flags: ExplainFlags) =>
      runOnce(async () => printExplained(await explained(words, flags), flags)),
  );
}

async function explained(words: readonly string[], flags: ExplainFlags): Promise<Explained> {
  const { kindNamed } = await import('../insight/diagnose/index.js');
  const typed = typedObject(words, (word) => kindNamed(word) !== undefined);
  const kind = typed && kindNamed(typed.kind);
  if (!typed || !kind) return explainedDeployment(words, flags);
  const ref = kind.type.namespaced ? refOf(typed.name, flags) : refOf(typed.name, {});
  const { serverUrl, ...told } = await explainedObject(kind, ref, flags);
  const address = await addressOf(kind, ref, serverUrl, flags);
  return { ...told, text: withAddress(told.text, address) };
}

async function addressOf(
  { type }: KindDiagnosis,
  ref: Required<ObjectRef>,
  serverUrl: string,
  flags: ExplainFlags,
): Promise<string | undefined> {
  const console = namedConsole(flags) ?? (await consoleOfRun(flags.dataDir, serverUrl));
  const { name, namespace } = ref;
  return console === undefined
    ? undefined
    : objectAddress(console, type.resource, { name, ...(type.namespaced && { namespace }) });
}

function withAddress(text: string, address: string | undefined): string {
  return address === undefined ? text : `${text}\n\nIn the console: ${address}`;
}

const WORKS = 'only deployment and the kinds that --help lists are';

async function explainedDeployment(words: readonly string[], flags: ExplainFlags): Promise<Explained> {
  const { address, explanation } = await explain(parseTarget(words, flags, WORKS), flags);
  const { renderExplanation } = await import('../insight/explain/index.js');
  return {
    text: withAddress(renderExplanation(explanation), address),
    value: explanation,
    exitCode: STATE_EXIT_CODES[explanation.state],
  };
}

interface Found {
  readonly explanation: Explanation;
  /** The address at which the console shows it. Absent: no console is known. */
  readonly address?: string;
}

async function explain({ api, ref }: Target, flags: ExplainFlags): Promise<Found> {
  const named = namedConsole(flags);
  const isOfApi = flags.kubeconfig !== undefined || flags.context !== undefined;
  if (isOfApi || !(await knowsReplica(flags))) return explainWithoutReplica({ api, ref }, flags);
  const path = `/admin/explain/deployments/${encodeURIComponent(ref.namespace)}/${encodeURIComponent(ref.name)}${api === undefined ? '' : `?api=${api}`}`;
  try {
    const { answer, url } = await askReplica<Explanation>(flags, path);
    const console = named ?? (await consoleOfReplica(flags, url));
    return { explanation: answer, address: rolloutAddress(console, ref, api) };
  } catch (error) {
    if (!(error instanceof NoReplicaError) || flags.adminUrl !== undefined) throw error;
    return explainWithoutReplica({ api, ref }, flags, error);
  }
}

/** From the objects alone, which say what happens, but not what the controllers know. */
async function explainWithoutReplica(
  { api, ref }: Target,
  flags: ExplainFlags,
  because?: NoReplicaError,
): Promise<Found> {
  const named = namedConsole(flags);
  const explanation = await explainFromApi(ref, because ? await apiBeside(flags, because) : flags, api);
  return { explanation, ...(named !== undefined && { address: rolloutAddress(named, ref, api) }) };
}

/** The API of the replicas that do not answer: kubectl's rules may lead to another cluster. @throws `because` if it is not known */
async function apiBeside(flags: ExplainFlags, because: NoReplicaError): Promise<ExplainFlags> {
  const { runningKubeconfig } = await import('../replica/supervisor/index.js');
  const kubeconfig = await runningKubeconfig(flags.dataDir);
  if (kubeconfig === undefined) throw because;
  printError(`rollkeeper: ${because.message}; the objects of the API are explained without them`);
  return { ...flags, kubeconfig, isFound: true };
}

/** The explanation of a Deployment from the API alone. */
export async function explainFromApi(
  ref: ObjectRef,
  flags: SchedulerFileFlags,
  api?: string,
): Promise<Explanation> {
  const { readLiveDeployment } = await import('./live-deployment.js');
  const { withApi } = await import('./with-api.js');
  const { explainDeployment } = await import('../insight/explain/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const live = await withApi(flags, (client) => readLiveDeployment(client, ref, api));
  return explainDeployment({ ...live, nowMs: new SystemClock().now() });
}
