import type { Command } from 'commander';
import { InvalidOptionError, StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import { print, runOnce } from '@rollkeeper/machinery/process';

/** Less than the timeout of the image's HEALTHCHECK. */
const ANSWER_TIMEOUT_MS = 4000;

/** `rollkeeper healthcheck`: for container engines, which run a command inside the container. */
export function registerHealthcheckCommand(program: Command): void {
  program
    .command('healthcheck')
    .description('check whether a replica or an API server in the same container is ready; exits with 0 or 1')
    .option(
      '--url <url>',
      'address to check; no secret is sent, any certificate is accepted',
      'https://127.0.0.1:8080/readyz',
    )
    .action(({ url }: { url: string }) => runOnce(async () => print(await askHealth(url))));
}

/**
 * The answer of a healthy server.
 * @throws StartupError with the failing checks, or why there is no answer; InvalidOptionError
 */
export async function askHealth(url: string): Promise<string> {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new InvalidOptionError('url', `"${url}" is not of the form https://host:port/path`);
  // Imported lazily to keep other commands small.
  const { trustedAgent } = await import('@rollkeeper/tls');
  const { request } = await import('undici');
  const dispatcher = trustedAgent({ by: 'nothing' });
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const { body, statusCode } = await request(url, { dispatcher, signal });
    const text = (await body.text()).trim();
    if (statusCode !== 200) throw new StartupError(`${url} answered ${statusCode}: ${text}`);
    return text;
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`${url} does not answer: ${errorMessage(error)}`, { cause: error });
  } finally {
    await dispatcher.destroy();
  }
}
