import { z } from 'zod';
import { METRIC_FIELDS, address, headers, query } from '../common/definition-fields.js';
import type { IncomingAnswer } from '../common/http-sender.js';
import { NoAnswerError } from '../common/no-answer-error.js';
import { asWord, fillQuery } from '../common/query-variables.js';
import { parseCsv } from './csv.js';
import type { Asking, Metric } from './metric.js';
import { filledHeaders } from './metric.js';
import { jsonOf, listAt, numberOf, valueAt } from './read-json.js';

const name = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => text.isWellFormed(), { error: 'has half of a character' });

/**
 * A query in Flux (`org` and `flux`), or in InfluxQL (`database` and `influxql`). The last row of each table counts.
 * Source: https://docs.influxdata.com/influxdb/v2/api-guide/api_intro/ and /influxdb/v1/tools/api/
 */
export const influxdb = z
  .strictObject({
    address,
    headers,
    org: name.optional(),
    flux: query.optional(),
    database: name.optional(),
    influxql: query.optional(),
    ...METRIC_FIELDS,
  })
  .superRefine(({ database, flux, influxql, org }, context) => {
    const isFlux =
      flux !== undefined && org !== undefined && database === undefined && influxql === undefined;
    const isInfluxQl =
      influxql !== undefined && database !== undefined && flux === undefined && org === undefined;
    if (!isFlux && !isInfluxQl)
      context.addIssue({ code: 'custom', message: 'needs either org and flux, or database and influxql' });
  })
  .transform((read): Metric => ({
    ...{ title: 'InfluxDB', condition: read.condition, timeoutMs: read.timeout, urls: [read.address] },
    valuesOf: (asking) =>
      read.flux === undefined
        ? askInfluxQl({ ...read, database: read.database ?? '', influxql: read.influxql ?? '' }, asking)
        : askFlux({ ...read, org: read.org ?? '', flux: read.flux }, asking),
  }));

interface Server {
  readonly address: string;
  readonly headers: Parameters<typeof filledHeaders>[0];
}

async function askFlux(
  { address: base, flux, headers: given, org }: Server & { readonly org: string; readonly flux: string },
  asking: Asking,
): Promise<readonly number[]> {
  const url = `${base}/api/v2/query?org=${encodeURIComponent(org)}`;
  const own = await filledHeaders(given, url, asking);
  const types = { accept: 'application/csv', 'content-type': 'application/vnd.flux' };
  const body = fillQuery(flux, asking.subject, asWord);
  return lastOfTables(await asking.send({ method: 'POST', url, headers: { ...own, ...types }, body }));
}

/** The last `_value` of each table of annotated CSV. */
function lastOfTables({ body, status }: IncomingAnswer): readonly number[] {
  if (status !== 200) throw new NoAnswerError(`answered ${status}`);
  const last = new Map<string, number>();
  let columns: Columns | undefined;
  for (const row of parseCsv(body)) {
    // Tables with other columns follow an empty line, with a header of their own; annotations begin with a hash.
    if (row.length === 1 && row[0] === '') columns = undefined;
    else if (row[0]?.startsWith('#') === true) continue;
    else if (!columns) columns = columnsOf(row);
    else last.set(`${row[columns.result]}/${row[columns.table]}`, valueOf(columns, row));
  }
  return [...last.values()];
}

/** The places of the columns in a row; -1 for one that is missing. */
interface Columns {
  readonly result: number;
  readonly table: number;
  readonly error: number;
  readonly value: number;
}

/** Looked for once for each header, which may be as long as the answer. */
function columnsOf(header: readonly string[]): Columns {
  const [result = -1, table = -1, error = -1, value = -1] = ['result', 'table', 'error', '_value'].map(
    (name) => header.indexOf(name),
  );
  return { result, table, error, value };
}

function valueOf({ error, value }: Columns, row: readonly string[]): number {
  if (error >= 0 && row[error] !== '') throw new NoAnswerError('the query failed');
  return numberOf(row[value]);
}

async function askInfluxQl(
  {
    address: base,
    database,
    headers: given,
    influxql,
  }: Server & {
    readonly database: string;
    readonly influxql: string;
  },
  asking: Asking,
): Promise<readonly number[]> {
  const q = fillQuery(influxql, asking.subject, asWord);
  const url = `${base}/query?${new URLSearchParams({ db: database, q, epoch: 's' }).toString()}`;
  const own = await filledHeaders(given, url, asking);
  const answer = jsonOf(await asking.send({ method: 'GET', url, headers: own }));
  return listAt(answer, 'results').flatMap((result) => {
    if (valueAt(result, 'error') !== undefined) throw new NoAnswerError('the query was refused');
    const series = valueAt(result, 'series');
    // The first column is the time. A result without series has found nothing.
    return Array.isArray(series) ? series.map((each) => numberOf(valueAt(each, 'values', -1, 1))) : [];
  });
}
