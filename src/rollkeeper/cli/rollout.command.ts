import type { Command } from 'commander';
import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { runOnce } from '@rollkeeper/machinery/process';
import type { RolloutTarget } from '../rollout/index.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions, parseRef, readSeconds } from './shared-options.js';

const VERBS = ['status', 'history', 'undo', 'restart', 'pause', 'resume'] as const;
type Verb = (typeof VERBS)[number];

interface RolloutFlags extends ApiFlags {
  readonly api?: string;
  readonly revision?: string;
  readonly toRevision?: string;
  readonly timeout?: string;
}

/** `rollkeeper rollout`: `kubectl rollout` for Deployments of either API. */
export function registerRolloutCommand(program: Command): void {
  addApiOptions(program.command('rollout'))
    .description('follow, list, undo, restart, pause or resume the rollout of a Deployment of either API')
    .argument('<verb>', VERBS.join(', '))
    .argument('<name>', 'namespace/name, or a name in the namespace default')
    .option('--api <api>', 'apps/v1 or rollkeeper.dev/v1 (default: the one that has it)')
    .option('--revision <number>', 'for history: show the pod template of this one')
    .option('--to-revision <number>', 'for undo (default: the one before)')
    .option('--timeout <seconds>', 'for status (default: for as long as it takes)')
    .action((verb: string, name: string, flags: RolloutFlags) => runOnce(() => rollout(verb, name, flags)));
}

async function rollout(word: string, name: string, flags: RolloutFlags): Promise<void> {
  const verb = VERBS.find((known) => known === word);
  if (!verb) throw new InvalidOptionError('verb', `"${word}" is none of ${VERBS.join(', ')}`);
  const ref = parseRef(name);
  const compiled = {
    revision: readRevisionFlag('revision', flags.revision),
    toRevision: readRevisionFlag('to-revision', flags.toRevision),
    timeoutMs: flags.timeout === undefined ? undefined : readSeconds('timeout', flags.timeout) * 1000,
  };
  // Imported lazily to keep other commands small.
  const { findDeployment, withApi } = await import('./live-deployment.js');
  await withApi(flags, async (client) => {
    const target = { client, ...(await findDeployment(client, ref, flags.api)) };
    await carryOut(verb, target, compiled);
  });
}

interface CompiledFlags {
  readonly revision?: bigint;
  readonly toRevision?: bigint;
  readonly timeoutMs?: number;
}

async function carryOut(
  verb: Verb,
  target: RolloutTarget,
  { revision, timeoutMs, toRevision }: CompiledFlags,
): Promise<void> {
  const { followRollout, renderHistory, restartRollout, setPaused, undoRollout } =
    await import('../rollout/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const clock = new SystemClock();
  const report = (line: string): void => console.log(line);
  if (verb === 'status')
    return followRollout(target, { clock, timeoutMs, report, reasonOf: () => reasonOf(target, clock) });
  if (verb === 'history') return report(await renderHistory(target, revision));
  if (verb === 'undo') await undoRollout(target, toRevision);
  else if (verb === 'restart') await restartRollout(target, clock);
  else await setPaused(target, verb === 'pause');
  const { qualifiedResource } = await import('@rollkeeper/machinery/kubernetes');
  const done = { undo: 'rolled back', restart: 'restarted', pause: 'paused', resume: 'resumed' }[verb];
  report(`${qualifiedResource(target.type)}/${target.deployment.metadata.name} ${done}`);
}

/** The sentence of `explain`, from the API alone. */
async function reasonOf({ client, deployment }: RolloutTarget, clock: Clock): Promise<string> {
  const { explainDeployment } = await import('../explain/index.js');
  const { readLiveDeployment } = await import('./live-deployment.js');
  const live = await readLiveDeployment(client, deployment.metadata, deployment.apiVersion);
  return explainDeployment({ ...live, nowMs: clock.now() }).sentence;
}

function readRevisionFlag(option: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,18}$/.test(text))
    throw new InvalidOptionError(option, `"${text}" is not the number of a revision`);
  return BigInt(text);
}
