import type { ApiClient } from '@rollkeeper/runtime';
import { Secret, apiStatusOf, isForbidden, isNotFound } from '@rollkeeper/runtime';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { annotationOf } from '../common/names.js';
import type { HostRule } from './check-hosts.js';
import { hostProblem, parseHostRules } from './check-hosts.js';
import { NoAnswerError } from './common/no-answer-error.js';

/** The value of a Secret that a check asks for. */
export interface AskedSecret {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** The target of the request that carries it. */
  readonly url: string;
}

/** Reads values of Secrets for requests of checks. */
export interface CheckSecrets {
  /** @throws NoAnswerError if it may not be read or sent there, or has no such key */
  read(asked: AskedSecret, signal: AbortSignal): Promise<string>;
}

/**
 * On a Secret: the hosts to which checks may send its values, as `--check-hosts` writes them. The author of the
 * ConfigMap of the checks may not be allowed to read the Secret, and could have it sent to a host of their choice.
 */
export const SECRET_HOSTS = annotationOf('check-hosts');

/** The longest value, characters: a key of a service account is shorter, and so is any header. */
const LONGEST_VALUE = 16 * 1024;

/** For controllers that may read no Secrets. */
export const NO_SECRETS: CheckSecrets = {
  read: () =>
    Promise.reject(new NoAnswerError('no Secrets are read: start the controller with --check-secrets')),
};

/** Secrets of the API for one measurement: each is read once, however many of its keys are asked for. */
export function secretsOf(client: Pick<ApiClient, 'get'>): CheckSecrets {
  const reads = new Map<string, Promise<Secret>>();
  return {
    async read(asked, signal) {
      const { name, namespace } = asked;
      const ref = `${namespace}/${name}`;
      const reading = reads.get(ref) ?? getSecret(client, { namespace, name }, signal);
      reads.set(ref, reading);
      return valueOf(await reading, asked);
    },
  };
}

/** @throws NoAnswerError if it may not be sent there, or has no such key */
function valueOf(secret: Secret, { key, name, url }: AskedSecret): string {
  const problem = hostProblem(url, hostsOf(secret));
  if (problem !== undefined)
    throw new NoAnswerError(
      `Secret ${name} may not be sent to ${URL.parse(url)?.host ?? 'what is no URL'}: its annotation ${SECRET_HOSTS} does not have the host`,
    );
  const { data = {} } = secret;
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  if (value === undefined) throw new NoAnswerError(`Secret ${name} has no key ${key}`);
  const text = Buffer.from(value, 'base64').toString('utf8').trim();
  if (text === '' || text.length > LONGEST_VALUE)
    throw new NoAnswerError(
      `key ${key} of Secret ${name} is empty, or has more than ${LONGEST_VALUE} characters`,
    );
  return text;
}

async function getSecret(
  client: Pick<ApiClient, 'get'>,
  ref: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<Secret> {
  try {
    return await client.get<Secret>(Secret, ref, { signal });
  } catch (error) {
    if (isNotFound(error)) throw new NoAnswerError(`there is no Secret ${ref.name}`, { cause: error });
    if (isForbidden(error))
      throw new NoAnswerError(`Secret ${ref.name} may not be read: ${errorMessage(error)}`, { cause: error });
    if (apiStatusOf(error) === undefined || signal.aborted) throw error;
    throw new NoAnswerError(`Secret ${ref.name} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

function hostsOf({ metadata }: Secret): readonly HostRule[] {
  try {
    return parseHostRules(metadata.annotations?.[SECRET_HOSTS] ?? '', SECRET_HOSTS);
  } catch (error) {
    throw new NoAnswerError(errorMessage(error), { cause: error });
  }
}
