import type { Command } from 'commander';
import { StartupError } from '@rollkeeper/machinery/errors';
import { failProcess } from '@rollkeeper/machinery/process';

/** `rollkeeper status`: lists the processes of `up`, and the leader. */
export function registerStatusCommand(program: Command): void {
  program
    .command('status')
    .description(
      'show each process of `up`, which replica leads, and whether Redis answers; exit code 1 if not',
    )
    .option('--json', 'as JSON')
    .option('--data-dir <folder>', 'the folder that `up` was given', '.rollkeeper')
    .action(async ({ dataDir, json }: { dataDir: string; json?: boolean }) => {
      // Imported lazily to keep other commands small.
      const { readUpStatus, renderUpStatus } = await import('../supervisor/index.js');
      const status = await readUpStatus(dataDir);
      if (!status) {
        failProcess(new StartupError(`nothing is running from ${dataDir}; start it with \`npm start\``));
        return;
      }
      console.log(json ? JSON.stringify(status) : renderUpStatus(status));
      if (status.redis && !status.redis.answers) process.exitCode = 1;
    });
}
