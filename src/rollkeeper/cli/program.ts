import { Command, CommanderError } from 'commander';
import { USAGE_EXIT_CODE, expectReaderToLeave } from '@rollkeeper/machinery/process';
import { VERSION } from '@rollkeeper/machinery/version';
import { registerApiServerCommand } from './apiserver.command.js';
import { registerBackupCommand, registerRestoreCommand } from './backup.command.js';
import { registerCompletionCommands } from './completion.command.js';
import { registerConvertCommand } from './convert.command.js';
import { registerConsoleCommand } from './console.command.js';
import { registerControllerCommand } from './controller.command.js';
import { registerDiffCommand } from './diff.command.js';
import { registerDoctorCommand } from './doctor.command.js';
import { exitCodesHelp } from '../terminal/exit-codes.js';
import { registerExperimentCommand } from './experiment.command.js';
import { registerExplainCommand } from './explain.command.js';
import { registerGenerateCommand } from './generate.command.js';
import { registerHealthcheckCommand } from './healthcheck.command.js';
import { registerNodeCommand } from './node.command.js';
import { registerNotificationsCommand } from './notifications.command.js';
import { registerPlanCommand } from './plan.command.js';
import { registerProblemsCommand } from './problems.command.js';
import { registerQueueCommand } from './queue.command.js';
import { registerReleaseCommand } from './release.command.js';
import { registerRolloutRequestCommands } from './rollout-requests.command.js';
import { registerRolloutCommand } from './rollout.command.js';
import { registerScaleCommand } from './scale.command.js';
import { registerSchedulerCommand } from './scheduler.command.js';
import { registerStatusCommand } from './status.command.js';
import { registerTestClusterCommand } from './test-cluster.command.js';
import { registerTimelineCommand } from './timeline.command.js';
import { registerTopCommand } from './top.command.js';
import { registerUpCommand } from './up.command.js';
import { registerWhyCommand } from './why.command.js';

/**
 * The command line.
 * @param main the program's own entry file, from which `up` starts its children
 * @param calledAs how its help calls it
 */
export function createProgram(main: string, calledAs = 'rollkeeper'): Command {
  const program = new Command(calledAs)
    .description('A highly available Deployment controller for Kubernetes APIs')
    .version(VERSION)
    .showHelpAfterError(`(see '${calledAs} --help' or '${calledAs} COMMAND --help')`)
    // Subcommands inherit this error handling from the program.
    .exitOverride();
  registerUpCommand(program, main);
  registerStatusCommand(program);
  registerConsoleCommand(program);
  registerTopCommand(program);
  registerDoctorCommand(program);
  registerExplainCommand(program);
  registerWhyCommand(program);
  registerProblemsCommand(program);
  registerPlanCommand(program);
  registerRolloutCommand(program);
  registerReleaseCommand(program);
  registerRolloutRequestCommands(program);
  registerExperimentCommand(program);
  registerNotificationsCommand(program);
  registerDiffCommand(program);
  registerTimelineCommand(program);
  registerScaleCommand(program);
  registerConvertCommand(program);
  registerQueueCommand(program);
  registerBackupCommand(program);
  registerRestoreCommand(program);
  registerControllerCommand(program);
  registerApiServerCommand(program);
  registerNodeCommand(program);
  registerSchedulerCommand(program);
  registerHealthcheckCommand(program);
  registerTestClusterCommand(program);
  registerGenerateCommand(program);
  registerCompletionCommands(program);
  for (const command of program.commands) command.addHelpText('after', exitCodesHelp(command.name()));
  program.addHelpText(
    'after',
    `${exitCodesHelp('')}\n  3…8  specific to the command: see its help, or docs/CLI.md\n  141  stopped, because nothing reads its output any more (as a shell reports SIGPIPE)`,
  );
  return program;
}

/**
 * Runs the command line. Its exit codes are those of `EXIT_CODES`.
 * @param argv as `process.argv`
 */
export async function runProgram(main: string, argv: readonly string[]): Promise<void> {
  expectReaderToLeave();
  const program = createProgram(main, process.env['ROLLKEEPER_CALLED_AS']);
  try {
    refuseUnknown(program, argv.slice(2));
    await program.parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
  }
}

/** commander evaluates `--help` first, so the help of an unknown command would be the general help. */
function refuseUnknown(program: Command, args: readonly string[]): void {
  if (args.some((arg) => /^--kubernetes-version(?:=|$)/.test(arg)))
    program.error('error: there is no --kubernetes-version: the embedded API server is Kubernetes 1.36');
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  const named = first === 'help' ? second : first;
  const known = program.commands.flatMap((command) => [command.name(), ...command.aliases()]);
  if (named === undefined || named === 'help' || known.includes(named)) return;
  program.error(`error: unknown command '${named}'`);
}
