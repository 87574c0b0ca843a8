import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import { readNamedFile } from '@rollkeeper/machinery/files';
import type { NodeProfile } from '@rollkeeper/simulator';
import { compileNodeSimulatorOptions, parseNodeProfiles } from '@rollkeeper/simulator';

/**
 * The profiles of a file, for this many nodes.
 * @throws InvalidOptionError naming the field
 */
export async function readNodeProfiles(file: string, nodes: number): Promise<NodeProfile[]> {
  let content: string;
  try {
    content = await readNamedFile(file);
  } catch (error) {
    throw new InvalidOptionError('node-profiles', errorMessage(error), { cause: error });
  }
  const profiles = parseNodeProfiles(content);
  compileNodeSimulatorOptions({ nodes, profiles });
  return profiles;
}
