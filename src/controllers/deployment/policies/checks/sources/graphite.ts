import { z } from 'zod';
import { METRIC_FIELDS, address, headers, query, window } from '../definition-fields.js';
import { asWord, fillQuery } from '../query-variables.js';
import type { Metric } from './metric.js';
import { filledHeaders } from './metric.js';
import { newestOf } from './newest-point.js';
import { jsonOf, listAt } from './read-json.js';

/**
 * A target of the render API, of which the newest point counts.
 * Source: https://graphite.readthedocs.io/en/stable/render_api.html
 */
export const graphite = z
  .strictObject({ address, target: query, headers, window, ...METRIC_FIELDS })
  .transform((read): Metric => ({
    ...{ title: 'Graphite', condition: read.condition, timeoutMs: read.timeout, urls: [read.address] },
    async valuesOf(asking) {
      const asked = new URLSearchParams({
        target: fillQuery(read.target, asking.subject, asWord),
        from: `-${Math.ceil(read.window / 1000)}s`,
        until: 'now',
        format: 'json',
      });
      const url = `${read.address}/render?${asked.toString()}`;
      const own = await filledHeaders(read.headers, url, asking);
      const series = listAt(jsonOf(await asking.send({ method: 'GET', url, headers: own })));
      return newestOf(
        series.map((each) => listAt(each, 'datapoints')),
        0,
      );
    },
  }));
