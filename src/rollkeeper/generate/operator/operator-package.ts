import type { OperatorNames } from './operator-names.js';
import type { TemplatePart } from './render-template.js';

/** The part of the product's own package.json that is needed. */
export interface ProductManifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

interface OperatorPackageOptions {
  readonly names: OperatorNames;
  readonly parts: ReadonlySet<TemplatePart>;
  readonly product: ProductManifest;
  /** Files of packages that are brought along, by the name of the package: `vendor/rollkeeper-client-0.1.2.tgz`. */
  readonly vendored: ReadonlyMap<string, string>;
}

const DIRECT = ['@rollkeeper/runtime', '@rollkeeper/opentelemetry'];
/** The packages that the direct ones stand on: if those come from files, so do these. */
const BELOW = ['@rollkeeper/machinery', '@rollkeeper/client'];
const OF_WEBHOOKS = ['@rollkeeper/webhooks'];
const BELOW_WEBHOOKS = ['@rollkeeper/tls'];
/** For the tests and for the command line. */
const FOR_DEVELOPMENT = ['rollkeeper', '@rollkeeper/testing'];

/** The package.json of a new operator, with the product's own versions of what both use. */
export function operatorPackage({ names, parts, product, vendored }: OperatorPackageOptions): object {
  const { name, plural } = names;
  const hasWebhook = parts.has('webhook');
  const atRuntime = [...DIRECT, ...(hasWebhook ? OF_WEBHOOKS : [])];
  const below = vendored.size === 0 ? [] : [...BELOW, ...(hasWebhook ? BELOW_WEBHOOKS : [])];
  const running = [...atRuntime, ...below];
  const rest =
    vendored.size === 0 ? FOR_DEVELOPMENT : [...vendored.keys()].filter((each) => !running.includes(each));
  const ofOurs = (packages: readonly string[]): [string, string][] =>
    packages.map((each) => {
      const file = vendored.get(each);
      return [each, file === undefined ? product.version : `file:${file}`];
    });
  const foreign = (...packages: string[]): [string, string][] =>
    packages.map((each) => [each, product.dependencies[each] ?? product.devDependencies[each] ?? '*']);
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: product.engines,
    scripts: {
      start: 'node src/main.ts',
      test: 'vitest run',
      typecheck: 'tsc',
      bundle: 'node bundle.mjs',
      generate: [
        `rollkeeper generate crd src/kinds.ts -o chart/crds/${plural}.yaml`,
        [
          `rollkeeper generate rbac src/controller.ts${hasWebhook ? ' src/webhook.ts' : ''} --name ${name}`,
          `--namespace '{{ .Release.Namespace }}'${hasWebhook ? ' --webhooks apply' : ''} -o chart/templates/rbac.yaml`,
        ].join(' '),
      ].join(' && '),
    },
    dependencies: sorted([...ofOurs(running), ...foreign('zod')]),
    devDependencies: sorted([...ofOurs(rest), ...foreign('@types/node', 'esbuild', 'typescript', 'vitest')]),
  };
}

function sorted(entries: readonly [string, string][]): Record<string, string> {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
