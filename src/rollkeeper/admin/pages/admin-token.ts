import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import { UntrustedFileError, readNamedSecret } from '@rollkeeper/machinery/files';

/** A shorter token could be guessed. */
const SHORTEST_TOKEN = 16;

/** The token in a file; null: no file is named. @param option name of the option that names it @throws StartupError */
export function readAdminToken(file: string | undefined, option: string): string | null {
  if (file === undefined) return null;
  let token: string;
  try {
    token = readNamedSecret(file).trim();
  } catch (error) {
    if (error instanceof UntrustedFileError) throw error;
    throw new StartupError(`cannot read ${option}: ${errorMessage(error)}`, { cause: error });
  }
  if (token.length < SHORTEST_TOKEN || /\s/.test(token))
    throw new StartupError(`${option}: ${file} must hold one word of ${SHORTEST_TOKEN} characters or more`);
  return token;
}
