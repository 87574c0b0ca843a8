import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { escapedText } from '@rollkeeper/machinery/process';

/**
 * Writes to a file, whose folders are made if they are missing.
 * @param output path of the file; undefined: standard output, with control characters escaped
 */
export async function writeOutput(text: string, output: string | undefined): Promise<void> {
  if (output === undefined) return void process.stdout.write(escapedText(text));
  await mkdir(dirname(output), { recursive: true });
  await writeFile(output, text);
}
