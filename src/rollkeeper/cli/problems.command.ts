import { SOMETHING_IS_WRONG } from '../terminal/exit-codes.js';
import type { Command } from 'commander';
import { runOnce } from '@rollkeeper/machinery/process';
import type { ConsoleUrlFlags } from './console-url.js';
import { addConsoleUrlOption, consoleOfRun, namedConsole } from './console-url.js';
import { EXPLAINED_FORMS, printExplained } from './explained-object.js';
import type { Diagnosis } from '../insight/diagnose/index.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions } from './output.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions, dataDirOption } from './shared-options.js';

interface ProblemsFlags extends ApiFlags, ConsoleUrlFlags, OutputFlags {
  readonly dataDir: string;
  readonly namespace?: string;
}

/** `rollkeeper problems`: all that is stuck or degraded, with causes and remedies. */
export function registerProblemsCommand(program: Command): void {
  const command = addConsoleUrlOption(addApiOptions(program.command('problems')));
  addOutputOptions(command, EXPLAINED_FORMS)
    .description(
      'list what is stuck or degraded in the cluster or in one namespace, with the cause and a remedy: rollouts and other workloads, nodes, drains, autoscalers, claims, services, namespaces that cannot be deleted, webhooks and conversions that do not answer, objects that a finalizer holds, replicas that hang, certificates that end within a day. Exit code: 0 no problems, 4 problems',
    )
    .option('-n, --namespace <name>', 'only this namespace (default: all, and cluster-scoped objects)')
    .addOption(dataDirOption())
    .action((flags: ProblemsFlags) =>
      runOnce(async () => {
        const { problemsBeside, withWhatAnswers } = await import('./problems-beside.js');
        const { withApi } = await import('./with-api.js');
        const { findProblems, renderProblems } = await import('../insight/diagnose/index.js');
        const { SystemClock } = await import('@rollkeeper/machinery/clock');
        const { namespace } = flags;
        const named = namedConsole(flags);
        const nowMs = new SystemClock().now();
        const looking = withApi(flags, async (client, serverUrl, connection) => ({
          console: named ?? (await consoleOfRun(flags.dataDir, serverUrl)),
          found: await findProblems(client, {
            ...{ nowMs, ofEveryKind: true },
            ...(namespace === undefined
              ? { beside: () => problemsBeside(flags.dataDir, connection, nowMs) }
              : { namespace }),
          }),
        }));
        const { console, found } = await looking.catch(async (error: unknown) => {
          throw await withWhatAnswers(error, flags.dataDir);
        });
        const { consoleLink } = await import('../insight/object-pages/console-link.js');
        const linkOf = (problem: Diagnosis) =>
          console === undefined ? undefined : consoleLink(console, problem);
        const exitCode = found.problems.length > 0 ? SOMETHING_IS_WRONG : 0;
        await printExplained({ text: renderProblems(found, linkOf), value: found, exitCode }, flags);
      }),
    );
}
