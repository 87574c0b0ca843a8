import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DCLinter } from 'dclint';
import { describe, expect, it } from 'vitest';
import { replicaOptionsOf } from '../../src/rollkeeper/cli/controller.command.js';
import { compileReplicaOptions } from '../../src/rollkeeper/replica/replica.options.js';
import type { Service } from '../image/compose.js';
import { flagsOf, ownComposeFile, readYaml, wordsOf } from '../image/compose.js';
import { ROOT } from '../image/dockerfile.js';

const file = ownComposeFile();
const { services } = file;
const all = Object.entries(services);
const own = all.filter(([, { build }]) => build !== undefined);
const named = (name: string): Service => {
  const service = services[name];
  if (!service) throw new Error(`there is no service ${name}`);
  return service;
};
const dependenciesOf = ({ depends_on = [] }: Service): [string, string][] =>
  Array.isArray(depends_on)
    ? (depends_on as string[]).map((name) => [name, 'service_started'])
    : Object.entries(depends_on as Record<string, { condition: string }>).map(([name, { condition }]) => [
        name,
        condition,
      ]);

/** The package's own declarations name a file that is not in it. */
interface LintResult {
  readonly messages: readonly { readonly type: string; readonly message: string }[];
}

/** The errors of the linter; Prettier and we decide how keys are ordered and quoted. */
function errorsIn(path: string): string[] {
  const linter = new DCLinter({ rules: {}, quiet: true, debug: false, exclude: [] });
  const results = linter.lintFiles([path], false) as readonly LintResult[];
  return results
    .flatMap(({ messages }) => messages)
    .filter(({ type }) => type === 'error')
    .map(({ message }) => message);
}

/** First and last port on the host, and in the container. */
function portsOf(port: string): { host: string; first: number; last: number; inside: number } {
  const [, host = '', first, last = first, inside] = /^([\d.]+):(\d+)(?:-(\d+))?:(\d+)$/.exec(port) ?? [];
  return { host, first: Number(first), last: Number(last), inside: Number(inside) };
}

describe('docker-compose.yml', () => {
  it('is of the published schema', () => {
    expect(errorsIn(join(ROOT, 'docker-compose.yml'))).toEqual([]);
    const wrong = join(mkdtempSync(join(tmpdir(), 'rollkeeper-compose-')), 'docker-compose.yml');
    writeFileSync(wrong, 'services: { one: { image: redis, imagine: this } }\n');
    expect(errorsIn(wrong).join()).toContain('must NOT have additional properties');
    rmSync(dirname(wrong), { recursive: true });
  });

  it.each(own)('starts %s with flags that the program knows', (_name, service) => {
    expect(flagsOf(wordsOf(service.command))).toHaveProperty('kubeconfig', '/data/kubeconfig');
  });

  it('gives its replicas one token to ask each other with', () => {
    const options = compileReplicaOptions(
      replicaOptionsOf(flagsOf(wordsOf(named('controller').command)), {}),
    );
    // The file that the API server makes in the volume that they share.
    expect(options['admin-token-file']).toBe('/data/token');
    expect(flagsOf(wordsOf(named('apiserver').command))).toMatchObject({ dataDir: '/data' });
  });

  it.each(all)('pins %s: another day brings no other image', (_name, { build, image }) => {
    expect(build === undefined ? image : 'built here').toMatch(/^(built here|[\w./-]+:v?\d+\.\d+\.\d+)$/);
  });

  it.each(all)('confines %s: no root, no rights, nothing to write but its volumes', (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(service.user ?? '').not.toMatch(/^(root|0)(:|$)/);
  });

  it('waits for services that exist, and for the health of those that tell it', () => {
    for (const [name, service] of all)
      for (const [other, condition] of dependenciesOf(service)) {
        expect(services, name).toHaveProperty([other]);
        if (condition === 'service_healthy')
          expect(named(other).healthcheck?.test, `${name}: ${other}`).toBeDefined();
      }
  });

  it('mounts volumes that are declared, and files that exist', () => {
    const sources = all.flatMap(([, { volumes = [] }]) =>
      volumes.map((volume) => volume.split(':')[0] ?? ''),
    );
    const paths = sources.filter((source) => source.startsWith('./'));
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    const volumes = sources.filter((source) => !source.startsWith('./'));
    expect([...new Set(volumes)].sort()).toEqual(Object.keys(file.volumes).sort());
  });

  it('opens ports to this machine alone, none of them twice, enough for each replica', () => {
    const taken: number[] = [];
    for (const [name, { deploy, ports = [] }] of all)
      for (const { first, host, inside, last } of ports.map(portsOf)) {
        expect(host, name).toBe('127.0.0.1');
        expect(inside, name).toBeGreaterThan(0);
        expect(last - first + 1, name).toBe(deploy?.replicas ?? 1);
        for (let port = first; port <= last; port++) taken.push(port);
      }
    expect(taken.length).toBe(new Set(taken).size);
  });

  it('asks for health where the servers listen', () => {
    const { healthcheck, command } = named('apiserver');
    const [how, node, main, ...check] = healthcheck?.test ?? [];
    expect([how, node, main]).toEqual(['CMD', 'node', 'dist/main.js']);
    expect(new URL(flagsOf(check)['url'] ?? '').port).toBe(flagsOf(wordsOf(command))['port']);
    // The replicas have the image's own.
    expect(named('controller').healthcheck).toBeUndefined();
    expect(new URL(flagsOf(['healthcheck'])['url'] ?? '').port).toBe(
      flagsOf(wordsOf(named('controller').command))['adminPort'],
    );
  });

  it('sends traces to where Jaeger listens', () => {
    for (const [name, { environment }] of own)
      expect(environment, name).toEqual({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://jaeger:4318' });
    expect(services).toHaveProperty('jaeger');
  });
});

describe('the files that Compose has Prometheus and Grafana read', () => {
  interface Scrape {
    readonly authorization: { readonly credentials_file: string };
    readonly dns_sd_configs?: readonly { readonly names: readonly string[]; readonly port: number }[];
    readonly static_configs?: readonly { readonly targets: readonly string[] }[];
  }
  const { rule_files: rules, scrape_configs: scrapes } = readYaml('compose', 'prometheus.yml') as {
    readonly rule_files: readonly string[];
    readonly scrape_configs: readonly Scrape[];
  };
  const mountsOf = (name: string): string[] =>
    (named(name).volumes ?? []).map((volume) => volume.split(':')[1] ?? '');

  it('names servers where they listen', () => {
    const targets = scrapes.flatMap(({ dns_sd_configs = [], static_configs = [] }) => [
      ...dns_sd_configs.flatMap(({ names, port }) => names.map((name) => `${name}:${port}`)),
      ...static_configs.flatMap(({ targets: static_ }) => static_),
    ]);
    const inside = (name: string): string => `${name}:${portsOf(named(name).ports?.[0] ?? '').inside}`;
    expect(targets.sort()).toEqual([inside('apiserver'), inside('controller')]);
  });

  it('is mounted: the token, by its owner; the rules; the dashboard; the ways to both sources', () => {
    const mounted = mountsOf('prometheus');
    expect(scrapes.map(({ authorization }) => authorization.credentials_file)).toEqual(
      scrapes.map(() => '/data/token'),
    );
    expect(mounted).toEqual(expect.arrayContaining(['/data', ...rules]));
    expect(named('prometheus').user).toBe('1000:1000');
    const { providers } = readYaml('compose', 'grafana', 'dashboards.yaml') as {
      providers: { options: { path: string } }[];
    };
    expect(mountsOf('grafana')).toEqual(expect.arrayContaining(providers.map(({ options }) => options.path)));
    const { datasources } = readYaml('compose', 'grafana', 'datasources.yaml') as {
      datasources: { url: string }[];
    };
    for (const { url } of datasources) {
      const { hostname, port } = new URL(url);
      expect(portsOf(named(hostname).ports?.[0] ?? '').inside).toBe(Number(port));
    }
  });
});
