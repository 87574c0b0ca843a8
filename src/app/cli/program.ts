import { Command } from 'commander';
import { VERSION } from '../../base/version.js';
import { registerApiServerCommand } from './apiserver.command.js';
import { registerBackupCommand, registerRestoreCommand } from './backup.command.js';
import { registerConvertCommand } from './convert.command.js';
import { registerControllerCommand } from './controller.command.js';
import { registerExplainCommand } from './explain.command.js';
import { registerHealthcheckCommand } from './healthcheck.command.js';
import { registerNodeCommand } from './node.command.js';
import { registerPlanCommand } from './plan.command.js';
import { registerQueueCommand } from './queue.command.js';
import { registerRolloutCommand } from './rollout.command.js';
import { registerStatusCommand } from './status.command.js';
import { registerTestClusterCommand } from './test-cluster.command.js';
import { registerUpCommand } from './up.command.js';

/** The command line. @param main the program's own entry file, which `up` starts its children from */
export function createProgram(main: string): Command {
  const program = new Command('rollkeeper')
    .description('A highly available Deployment controller for Kubernetes APIs')
    .version(VERSION)
    .showHelpAfterError();
  registerUpCommand(program, main);
  registerStatusCommand(program);
  registerExplainCommand(program);
  registerPlanCommand(program);
  registerRolloutCommand(program);
  registerConvertCommand(program);
  registerQueueCommand(program);
  registerBackupCommand(program);
  registerRestoreCommand(program);
  registerControllerCommand(program);
  registerApiServerCommand(program);
  registerNodeCommand(program);
  registerHealthcheckCommand(program);
  registerTestClusterCommand(program);
  return program;
}
