import { z } from 'zod';
import {
  COMPARABLE_FIELDS,
  address,
  oneJudgement,
  query,
  secretName,
  window,
} from '../common/definition-fields.js';
import { NoAnswerError } from '../common/no-answer-error.js';
import { asWord, fillQuery } from '../common/query-variables.js';
import type { Asking, Metric } from './metric.js';
import { metricOf } from './metric.js';
import { allOf, newestOf } from './points.js';
import { jsonOf, listAt, valueAt } from './read-json.js';

const site = z
  .string()
  .max(100)
  .regex(/^[a-z0-9.-]+$/, { error: 'is not a site such as datadoghq.eu' });

/**
 * A query of timeseries, of which the newest point counts. The Secret has `api-key` and `app-key`.
 * Source: https://docs.datadoghq.com/api/latest/metrics/query-timeseries-points/
 */
export const datadog = z
  .strictObject({
    site: site.default('datadoghq.com'),
    /** In place of the site's, for a relay. */
    address: address.optional(),
    query,
    secret: secretName,
    window,
    ...COMPARABLE_FIELDS,
  })
  .superRefine(oneJudgement)
  .transform((read): Metric => {
    const base = read.address ?? `https://api.${read.site}`;
    const pointsOf = async (
      { nowMs, secret, send, subject }: Asking,
      windowMs: number,
    ): Promise<readonly (readonly unknown[])[]> => {
      const to = Math.floor(nowMs / 1000);
      const asked = new URLSearchParams({
        from: String(to - Math.ceil(windowMs / 1000)),
        to: String(to),
        query: fillQuery(read.query, subject, asWord),
      });
      const url = `${base}/api/v1/query?${asked.toString()}`;
      const [apiKey, appKey] = await Promise.all([
        secret(read.secret, 'api-key', url),
        secret(read.secret, 'app-key', url),
      ]);
      const headers = { 'dd-api-key': apiKey, 'dd-application-key': appKey };
      const answer = jsonOf(await send({ method: 'GET', url, headers }));
      if (valueAt(answer, 'status') !== 'ok') throw new NoAnswerError('the query was refused');
      return listAt(answer, 'series').map((series) => listAt(series, 'pointlist'));
    };
    return metricOf({ title: 'Datadog', timeoutMs: read.timeout, urls: [base] }, read, {
      valuesOf: async (asking) => newestOf(await pointsOf(asking, read.window), 1),
      samplesOf: async (asking) => allOf(await pointsOf(asking, read.compare?.windowMs ?? read.window), 1),
    });
  });
