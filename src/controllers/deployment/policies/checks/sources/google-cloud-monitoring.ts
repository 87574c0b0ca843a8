import { createPrivateKey, createSign } from 'node:crypto';
import { z } from 'zod';
import { isJsonObject, parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { METRIC_FIELDS, address, query, secretName } from '../common/definition-fields.js';
import { NoAnswerError } from '../common/no-answer-error.js';
import { fillQuery } from '../common/query-variables.js';
import type { Asking, Metric } from './metric.js';
import { instantQuery, valuesOfPrometheus } from './prometheus.js';
import { jsonOf, valueAt } from './read-json.js';

const KEY_OF_SECRET = 'service-account.json';
const SCOPE = 'https://www.googleapis.com/auth/monitoring.read';
/** How long an assertion may be exchanged for a token, seconds. */
const ASSERTION_SECONDS = 300;
/** Google's keys have 2048 bits. The work of a signature grows with the third power, and nothing else runs meanwhile. */
const LONGEST_KEY_BITS = 4096;

/**
 * A PromQL query of Google Cloud Monitoring. The Secret has `service-account.json`, the key of a service account that
 * may read metrics.
 * Source: https://cloud.google.com/monitoring/api/ref_v3/rest/v1/projects.location.prometheus.api.v1/query and
 * https://developers.google.com/identity/protocols/oauth2/service-account
 */
export const googleCloudMonitoring = z
  .strictObject({
    project: z.string().regex(/^[a-z0-9][a-z0-9.:-]{0,99}$/, { error: 'is not the name of a project' }),
    address: address.default('https://monitoring.googleapis.com'),
    'token-address': address.default('https://oauth2.googleapis.com'),
    query,
    secret: secretName,
    ...METRIC_FIELDS,
  })
  .transform((read): Metric => {
    const tokenAddress = read['token-address'];
    const urls = [read.address, tokenAddress];
    return {
      ...{ title: 'Google Cloud Monitoring', condition: read.condition, timeoutMs: read.timeout, urls },
      async valuesOf(asking) {
        const path = `v1/projects/${read.project}/location/global/prometheus/api/v1`;
        const url = `${read.address}/${path}/${instantQuery(fillQuery(read.query, asking.subject))}`;
        // The token is a credential of the Secret too, so both hosts need its permission.
        await asking.secret(read.secret, KEY_OF_SECRET, url);
        const token = await tokenFor(read.secret, `${tokenAddress}/token`, asking);
        const headers = { authorization: `Bearer ${token}` };
        return valuesOfPrometheus(await asking.send({ method: 'GET', url, headers }));
      },
    };
  });

/** A token for the service account of a key, which itself is never sent. */
async function tokenFor(name: string, url: string, { nowMs, secret, send }: Asking): Promise<string> {
  const key = serviceAccountOf(await secret(name, KEY_OF_SECRET, url));
  const issued = Math.floor(nowMs / 1000);
  const claims = { iss: key.email, scope: SCOPE, aud: url, iat: issued, exp: issued + ASSERTION_SECONDS };
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: signedAssertion(claims, key.privateKey),
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const token = valueAt(
    jsonOf(await send({ method: 'POST', url, headers, body: body.toString() })),
    'access_token',
  );
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new NoAnswerError('no token was issued');
}

function serviceAccountOf(text: string): { readonly email: string; readonly privateKey: string } {
  try {
    const read = parseJson(text);
    const { client_email: email, private_key: privateKey } = isJsonObject(read) ? read : {};
    if (typeof email === 'string' && typeof privateKey === 'string') return { email, privateKey };
  } catch {
    // Nothing of the text may be shown, so neither may the error that quotes it.
  }
  throw new NoAnswerError(`${KEY_OF_SECRET} is not the key of a service account`);
}

/** A JSON Web Token by RS256. */
function signedAssertion(claims: object, privateKey: string): string {
  const parts = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) =>
    Buffer.from(stringifyJson(part)).toString('base64url'),
  );
  const text = parts.join('.');
  try {
    const key = createPrivateKey(privateKey);
    const { modulusLength = Infinity } = key.asymmetricKeyDetails ?? {};
    if (key.asymmetricKeyType !== 'rsa' || modulusLength > LONGEST_KEY_BITS)
      throw new Error('not such a key');
    return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`;
  } catch {
    throw new NoAnswerError(
      `${KEY_OF_SECRET} has no RSA key of at most ${LONGEST_KEY_BITS} bits that can sign`,
    );
  }
}
