import { z } from 'zod';
import {
  COMPARABLE_FIELDS,
  address,
  headers,
  oneJudgement,
  query,
  window,
} from '../common/definition-fields.js';
import { asWord, fillQuery } from '../common/query-variables.js';
import type { Asking, Metric } from './metric.js';
import { filledHeaders, metricOf } from './metric.js';
import { allOf, newestOf } from './points.js';
import { jsonOf, listAt } from './read-json.js';

/**
 * A target of the render API, of which the newest point counts.
 * Source: https://graphite.readthedocs.io/en/stable/render_api.html
 */
export const graphite = z
  .strictObject({ address, target: query, headers, window, ...COMPARABLE_FIELDS })
  .superRefine(oneJudgement)
  .transform((read): Metric => {
    const pointsOf = async (asking: Asking, windowMs: number): Promise<readonly (readonly unknown[])[]> => {
      const asked = new URLSearchParams({
        target: fillQuery(read.target, asking.subject, asWord),
        from: `-${Math.ceil(windowMs / 1000)}s`,
        until: 'now',
        format: 'json',
      });
      const url = `${read.address}/render?${asked.toString()}`;
      const own = await filledHeaders(read.headers, url, asking);
      const series = listAt(jsonOf(await asking.send({ method: 'GET', url, headers: own })));
      return series.map((each) => listAt(each, 'datapoints'));
    };
    return metricOf({ title: 'Graphite', timeoutMs: read.timeout, urls: [read.address] }, read, {
      valuesOf: async (asking) => newestOf(await pointsOf(asking, read.window), 0),
      samplesOf: async (asking) => allOf(await pointsOf(asking, read.compare?.windowMs ?? read.window), 0),
    });
  });
