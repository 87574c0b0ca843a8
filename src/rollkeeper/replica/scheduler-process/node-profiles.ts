import { readFile } from 'node:fs/promises';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import type { NodeProfile } from '@rollkeeper/simulator';
import { compileNodeSimulatorOptions, parseNodeProfiles } from '@rollkeeper/simulator';

/**
 * The profiles of a file, for this many nodes.
 * @throws InvalidOptionError naming the field
 */
export async function readNodeProfiles(file: string, nodes: number): Promise<NodeProfile[]> {
  let content: string;
  try {
    content = await readFile(file, 'utf8');
  } catch (error) {
    throw new InvalidOptionError('node-profiles', errorMessage(error), { cause: error });
  }
  const profiles = parseNodeProfiles(content);
  compileNodeSimulatorOptions({ nodes, profiles });
  return profiles;
}
