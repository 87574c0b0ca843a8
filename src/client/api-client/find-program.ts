import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Whether a file can be run. */
export type CanRun = (file: string) => boolean;

/**
 * The program that a kubeconfig names. A name without a folder is looked for in the absolute folders of `PATH`: a relative one, such as
 * `.`, would run what lies in the folder that a command happens to run in. Same as client-go, which runs no such program either.
 * @param command as in the file; a path is absolute by now
 * @throws Error if no absolute folder has it
 */
export function findProgram(command: string, path: string | undefined, canRun: CanRun = isProgram): string {
  // Windows looks for names by rules of its own.
  if (/[/\\]/.test(command) || process.platform === 'win32') return command;
  const files = (path ?? '').split(delimiter).map((folder) => join(folder === '' ? '.' : folder, command));
  const found = files.find((file) => isAbsolute(file) && canRun(file));
  if (found !== undefined) return found;
  const inFolder = files.some((file) => !isAbsolute(file) && canRun(file));
  throw new Error(
    inFolder
      ? `${command}: only a relative folder of PATH has this program, and such programs are not run`
      : `${command}: no folder of PATH has this program`,
  );
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
