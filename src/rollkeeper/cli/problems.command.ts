import type { Command } from 'commander';
import { runOnce } from '@rollkeeper/machinery/process';
import { EXPLAINED_FORMS, print } from './explained-object.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions } from './output.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions } from './shared-options.js';

interface ProblemsFlags extends ApiFlags, OutputFlags {
  readonly namespace?: string;
}

/** As `explain` for something that is stuck. */
const SOMETHING_IS_WRONG = 4;

/** `rollkeeper problems`: all that is stuck or degraded, with causes and remedies. */
export function registerProblemsCommand(program: Command): void {
  addOutputOptions(addApiOptions(program.command('problems')), EXPLAINED_FORMS)
    .description(
      'list what is stuck or degraded in the cluster, or in one namespace, with the cause and what would help: rollouts and other workloads, nodes, drains, autoscalers, claims, services, namespaces that cannot end, webhooks that do not answer. Exit code: 0 nothing, 4 something',
    )
    .option('-n, --namespace <name>', 'only this namespace (default: all, and the objects of the cluster)')
    .action((flags: ProblemsFlags) =>
      runOnce(async () => {
        const { withApi } = await import('./live-deployment.js');
        const { findProblems, renderProblems } = await import('../diagnose/index.js');
        const { SystemClock } = await import('@rollkeeper/machinery/clock');
        const { namespace } = flags;
        const found = await withApi(flags, (client) =>
          findProblems(client, {
            nowMs: new SystemClock().now(),
            ...(namespace !== undefined && { namespace }),
          }),
        );
        const exitCode = found.problems.length > 0 ? SOMETHING_IS_WRONG : 0;
        await print({ text: renderProblems(found), value: found, exitCode }, flags);
      }),
    );
}
