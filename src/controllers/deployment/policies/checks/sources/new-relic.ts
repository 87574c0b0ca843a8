import { z } from 'zod';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { METRIC_FIELDS, address, query, secretName } from '../common/definition-fields.js';
import { NoAnswerError } from '../common/no-answer-error.js';
import { asWord, fillQuery } from '../common/query-variables.js';
import type { Metric } from './metric.js';
import { jsonOf, listAt, valueAt } from './read-json.js';

const ADDRESSES = { us: 'https://api.newrelic.com', eu: 'https://api.eu.newrelic.com' } as const;

const GRAPHQL =
  'query($account: Int!, $nrql: Nrql!) { actor { account(id: $account) { nrql(query: $nrql) { results } } } }';

/** Fields that belong to the bucket of a row, and not to what was selected. */
const OF_THE_BUCKET: ReadonlySet<string> = new Set(['beginTimeSeconds', 'endTimeSeconds', 'facet']);

/**
 * An NRQL query through NerdGraph; each row of its results has one number, or the one that `field` names. The Secret
 * has `api-key`, a user key.
 * Source: https://docs.newrelic.com/docs/apis/nerdgraph/examples/nerdgraph-nrql-tutorial/
 */
export const newRelic = z
  .strictObject({
    account: z.int({ error: 'is not the number of an account' }).min(1),
    region: z.enum(['us', 'eu']).default('us'),
    /** In place of the region's, for a relay. */
    address: address.optional(),
    query,
    field: z.string().max(200).optional(),
    secret: secretName,
    ...METRIC_FIELDS,
  })
  .transform((read): Metric => {
    const base = read.address ?? ADDRESSES[read.region];
    return {
      ...{ title: 'New Relic', condition: read.condition, timeoutMs: read.timeout, urls: [base] },
      async valuesOf({ secret, send, subject }) {
        const url = `${base}/graphql`;
        const nrql = fillQuery(read.query, subject, asWord);
        const body = stringifyJson({ query: GRAPHQL, variables: { account: read.account, nrql } });
        const headers = {
          'content-type': 'application/json',
          'api-key': await secret(read.secret, 'api-key', url),
        };
        const answer = jsonOf(await send({ method: 'POST', url, headers, body }));
        if (valueAt(answer, 'errors', 0) !== undefined) throw new NoAnswerError('the query was refused');
        const rows = listAt(answer, 'data', 'actor', 'account', 'nrql', 'results');
        return rows.map((row) => numberOfRow(row, read.field));
      },
    };
  });

/** `{ "count": 3 }`, or `{ "percentile.duration": { "95": 0.3 } }`, whose field is `percentile.duration.95`. */
function numberOfRow(row: unknown, field: string | undefined): number {
  const numbers = Object.entries(isJsonObject(row) ? row : {}).flatMap(([name, value]) => {
    if (OF_THE_BUCKET.has(name)) return [];
    if (!isJsonObject(value)) return [[name, value] as const];
    return Object.entries(value).map(([inner, each]) => [`${name}.${inner}`, each] as const);
  });
  const chosen = numbers.filter(([name, value]) =>
    field === undefined ? typeof value === 'number' : name === field,
  );
  const [first] = chosen;
  if (chosen.length === 1 && first) return typeof first[1] === 'number' ? first[1] : NaN;
  throw new NoAnswerError(
    chosen.length === 0
      ? 'the results have no such number'
      : 'the results have several numbers: name one by field',
  );
}
