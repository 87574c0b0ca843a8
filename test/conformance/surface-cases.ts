import { parseJson } from '@rollkeeper/machinery/kubernetes';
import type { ConformanceFormat, Json, JsonObject, RecordedCase } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';
import { differences } from './differences.js';
import type { OwnServer } from './own-server.js';
import { startOwnServer } from './own-server.js';
import { WireProbes, changesThings, prepareProbes } from './surface-probes.js';
import { reasonsFor } from './surface-differences.js';
import { shownDefinition, shownOperation } from './surface-openapi.js';
import { get, objectAt, textAt } from './surface-requests.js';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** The bodies that a server has for reasons of its own: its processes' memory, its own address, its own objects. */
const OWN_BODIES: ReadonlySet<string> = new Set([
  '/metrics/slis',
  '/debug/pprof/',
  '/api/v1/watch/namespaces?timeoutSeconds=1',
]);

/**
 * Compares what can be seen of a genuine API server's surface (one JSON object in sections) with the embedded
 * server's. A case is one entry: a resource in discovery, a definition, an operation, a path, a probe.
 */
class SurfaceCases implements ConformanceFormat {
  readonly name = 'surface';
  private server: OwnServer | undefined;
  private probes: WireProbes | undefined;
  private readonly answers = new Map<string, Promise<Json>>();

  matches(): boolean {
    return false;
  }

  casesOf(lines: readonly JsonObject[]): readonly RecordedCase[] | undefined {
    const [surface] = lines;
    if (lines.length !== 1 || !isJsonObject(surface?.wire) || !isJsonObject(surface.openapi))
      return undefined;
    return [
      ...discoveryCases(surface),
      ...aggregatedCases(surface),
      ...openApiCases(surface.openapi),
      ...entries(surface.paths).map(([path, expected]) => aCase('paths', path, { expected })),
      ...(surface.headers as string[]).map((name) => aCase('headers', name, {})),
      ...inOrder(entries(surface.wire)).map(([name, expected]) => aCase(sectionOf(name), name, { expected })),
    ];
  }

  async open(): Promise<void> {
    this.answers.clear();
    this.server = await startOwnServer();
    await prepareProbes(this.server);
    this.probes = new WireProbes(this.server);
  }

  async close(): Promise<void> {
    await this.server?.stop();
    this.server = undefined;
  }

  async run(recorded: RecordedCase): Promise<readonly string[]> {
    const { name, expected } = recorded;
    switch (recorded.section) {
      case 'discovery':
        return differences(expected, await this.discovered(recorded));
      case 'aggregated discovery':
        return differences(expected, await this.aggregated(recorded));
      case 'openapi definitions':
        return differences(
          expected,
          shownDefinition(objectAt(await this.openApi(), 'definitions', textAt(name))),
        );
      case 'openapi paths': {
        const found = objectAt(await this.openApi(), 'paths', textAt(recorded.path));
        return differences(expected, shownOperation(objectAt(found, textAt(recorded.method))));
      }
      case 'openapi v3 paths': {
        const found = objectAt(await this.answer('/openapi/v3'), 'paths', textAt(name));
        return found === undefined ? ['expected the path, got nothing'] : [];
      }
      case 'paths':
        return this.runPath(textAt(name), expected as JsonObject);
      case 'headers': {
        const { headers } = await get(this.started(), '/healthz');
        return headers[textAt(name)] === undefined ? ['expected the header, got none'] : [];
      }
      default:
        return this.probes?.run(textAt(name), expected) ?? [];
    }
  }

  deliberate({ id }: RecordedCase): Promise<readonly string[]> {
    return Promise.resolve(reasonsFor(id));
  }

  private async runPath(path: string, expected: JsonObject): Promise<readonly string[]> {
    const { headers, status, text } = await get(this.started(), path, { accept: 'application/json' });
    const isWhole = expected.body !== undefined && !OWN_BODIES.has(path);
    const body: Json = isWhole ? bodyLike(text, expected.body) : null;
    const actual = { code: status, type: headers['content-type'] ?? null, body };
    return differences({ ...expected, ...(!isWhole && { body: null }) }, actual);
  }

  private async discovered({ list, name, path }: RecordedCase): Promise<Json | undefined> {
    const answer = await this.answer(textAt(path));
    if (list === undefined) return answer;
    const items = isJsonObject(answer) ? (answer[textAt(list)] as readonly Json[] | undefined) : undefined;
    if (name === '') return items?.map((item) => nameOf(item));
    return items?.find((item) => nameOf(item) === name);
  }

  private async aggregated({ name, path }: RecordedCase): Promise<Json | undefined> {
    const answer = await this.answer(textAt(path), AGGREGATED);
    const items = isJsonObject(answer) ? (answer.items as readonly Json[] | undefined) : undefined;
    return items?.find((item) => (objectAt(item, 'metadata', 'name') ?? '') === name);
  }

  private started(): OwnServer {
    if (!this.server) throw new Error('the server has not been started');
    return this.server;
  }

  private openApi(): Promise<Json> {
    return this.answer('/openapi/v2');
  }

  private answer(path: string, accept = 'application/json'): Promise<Json> {
    const key = `${accept} ${path}`;
    const known = this.answers.get(key);
    if (known) return known;
    const answer = get(this.started(), path, { accept }).then(({ text }) => parseJson(text) as Json);
    this.answers.set(key, answer);
    return answer;
  }
}

export const surfaceCases: ConformanceFormat = new SurfaceCases();

function discoveryCases({ api, apis, resources, root }: JsonObject): RecordedCase[] {
  const lists: [string, Json | undefined, string][] = [
    ['/', root, 'paths'],
    ['/api', api, 'versions'],
    ['/apis', apis, 'groups'],
    ...entries(resources).map(([path, list]): [string, Json, string] => [`/${path}`, list, 'resources']),
  ];
  return lists.flatMap(([path, whole, list]) => {
    const items = objectAt(whole, list) as readonly Json[];
    const order = aCase('discovery', '', { path, list, expected: items.map(nameOf) }, `${path} order`);
    const each = items.map((expected) => {
      const name = nameOf(expected);
      return aCase('discovery', name, { path, list, expected }, `${path} ${name}`);
    });
    return [order, ...each];
  });
}

function aggregatedCases({ aggregated }: JsonObject): RecordedCase[] {
  return entries(aggregated)
    .filter(([key]) => key.startsWith(`${AGGREGATED}/`))
    .flatMap(([key, answer]) => {
      const path = key.slice(AGGREGATED.length);
      const items = objectAt(answer, 'body', 'items') as readonly Json[];
      return items.map((expected) => {
        const name = textAt(objectAt(expected, 'metadata', 'name') ?? '');
        return aCase('aggregated discovery', name, { path, expected }, `${path} ${name}`);
      });
    });
}

function openApiCases({ v2, v3paths }: JsonObject): RecordedCase[] {
  return [
    ...entries(objectAt(v2, 'definitions')).map(([name, expected]) =>
      aCase('openapi definitions', name, { expected }),
    ),
    ...entries(objectAt(v2, 'paths')).flatMap(([path, methods]) =>
      entries(methods).map(([method, expected]) =>
        aCase('openapi paths', `${method} ${path}`, { path, method, expected }),
      ),
    ),
    ...(v3paths as string[]).map((path) => aCase('openapi v3 paths', path, {})),
  ];
}

function aCase(section: string, name: string, more: JsonObject, id = name): RecordedCase {
  return { id: `${section}: ${id}`, section, name, ...more };
}

/** Probes that change what others read come last. */
function inOrder(probes: readonly [string, Json][]): readonly [string, Json][] {
  return [...probes].sort(([a], [b]) => Number(changesThings(a)) - Number(changesThings(b)));
}

/** The recording has the beginning of long texts. */
const CUT_LENGTH = 1500;

function bodyLike(text: string, expected: Json | undefined): Json {
  if (typeof expected !== 'string') return parseJson(text) as Json;
  return expected.length === CUT_LENGTH ? text.slice(0, CUT_LENGTH) : text;
}

function sectionOf(probe: string): string {
  const [first = ''] = probe.split(' ');
  return first === 'columns' ? 'table columns' : `wire ${first}`;
}

function nameOf(item: Json): string {
  return isJsonObject(item) ? textAt(item.name) : textAt(item);
}

function entries(value: Json | undefined): [string, Json][] {
  return isJsonObject(value) ? (Object.entries(value) as [string, Json][]) : [];
}
