import type { Command } from 'commander';
import type { Explanation, ExplanationState } from '../explain/index.js';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { runOnce } from '@rollkeeper/machinery/process';
import type { PlacementState } from '@rollkeeper/scheduler';
import type { AdminClientFlags } from './admin-client.js';
import { addAdminOptions, askAdmin } from './admin-client.js';
import type { ApiFlags } from './shared-options.js';
import { SCHEDULER_FILE_OPTIONS } from '../scheduler-process/scheduler-options.table.js';
import { addApiOptions } from './shared-options.js';
import { addOptions } from './table-options.js';
import type { Target, TargetFlags } from './target.js';
import { TARGET_HELP, addNamespaceOption, parseTarget, podNamedBy } from './target.js';

interface ExplainFlags extends AdminClientFlags, ApiFlags, Pick<TargetFlags, 'namespace'> {
  readonly json?: boolean;
  readonly schedulerConfig?: string;
  readonly schedulerPlugins?: string;
}

/** For scripts; 1 and 2 are failures and usage errors, as in every command. */
const EXIT_CODES: Readonly<Record<ExplanationState, number>> = {
  complete: 0,
  'scaled-to-zero': 0,
  progressing: 3,
  blocked: 4,
  degraded: 5,
  paused: 6,
  deleting: 7,
};

const PLACEMENT_EXIT_CODES: Readonly<Record<PlacementState, number>> = {
  bound: 0,
  ended: 0,
  waits: 3,
  elsewhere: 3,
  refused: 4,
  gated: 6,
  deleting: 7,
};

/** `rollkeeper explain`: explains the state of a rollout, or why a pod is on no node. */
export function registerExplainCommand(program: Command): void {
  const command = addAdminOptions(program.command('explain'));
  const described = addNamespaceOption(
    addApiOptions(command, 'ask no replica: work it out from this API alone'),
  )
    .description(
      'say why a rollout is where it is, or why a pod is on no node, what it waits for, and what would unblock it. Exit code: 0 complete, 3 rolling out, 4 stuck, 5 degraded, 6 paused, 7 deleting',
    )
    .argument(
      '<name...>',
      `${TARGET_HELP}; also deployments.apps and deployments.rollkeeper.dev; pod/NAME, pod NAMESPACE/NAME`,
    )
    .option('--json', 'as JSON');
  addOptions(described, SCHEDULER_FILE_OPTIONS).action((words: string[], flags: ExplainFlags) =>
    runOnce(async () => {
      const pod = podNamedBy(words, flags);
      if (pod) return explainPlacement(pod, flags);
      const explanation = await explain(parseTarget(words, flags, 'only deployment and pod are'), flags);
      const { renderExplanation } = await import('../explain/index.js');
      console.log(flags.json ? stringifyJson(explanation, 2) : renderExplanation(explanation));
      process.exitCode = EXIT_CODES[explanation.state];
    }),
  );
}

async function explain({ api, ref }: Target, flags: ExplainFlags): Promise<Explanation> {
  if (flags.kubeconfig !== undefined || flags.context !== undefined) return explainFromApi(ref, flags, api);
  const path = `/admin/explain/deployments/${encodeURIComponent(ref.namespace)}/${encodeURIComponent(ref.name)}${api === undefined ? '' : `?api=${api}`}`;
  return (await askAdmin(flags, path)) as Explanation;
}

async function explainFromApi(ref: ObjectRef, flags: ExplainFlags, api?: string): Promise<Explanation> {
  const { readLiveDeployment, withApi } = await import('./live-deployment.js');
  const { explainDeployment } = await import('../explain/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const live = await withApi(flags, (client) => readLiveDeployment(client, ref, api));
  return explainDeployment({ ...live, nowMs: new SystemClock().now() });
}

async function explainPlacement(ref: Required<ObjectRef>, flags: ExplainFlags): Promise<void> {
  const { withApi } = await import('./live-deployment.js');
  const { explainPod } = await import('../explain-pod/explain-pod.js');
  const { renderPlacement } = await import('../explain-pod/render-placement.js');
  const files = { config: flags.schedulerConfig, plugins: flags.schedulerPlugins };
  const explanation = await withApi(flags, (client) => explainPod(client, ref, files));
  console.log(flags.json ? stringifyJson(explanation, 2) : renderPlacement(explanation));
  process.exitCode = PLACEMENT_EXIT_CODES[explanation.state];
}
