import type { Command } from 'commander';
import { StartupError } from '../errors/index.js';
import { failProcess } from '../process/index.js';
import { readUpStatus, renderUpStatus } from '../supervisor/index.js';

/** `rollkeeper status`: what `up` runs, and who leads. */
export function registerStatusCommand(program: Command): void {
  program
    .command('status')
    .description('show each process of `up`, and which replica leads')
    .option('--json', 'as JSON')
    .option('--data-dir <folder>', 'the folder that `up` was given', '.rollkeeper')
    .action(async ({ dataDir, json }: { dataDir: string; json?: boolean }) => {
      const status = await readUpStatus(dataDir);
      if (!status) {
        failProcess(new StartupError(`nothing is running from ${dataDir}; start it with \`npm start\``));
        return;
      }
      console.log(json ? JSON.stringify(status) : renderUpStatus(status));
    });
}
