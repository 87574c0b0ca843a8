import { defineConfig } from 'vitepress';
import { slugOf } from '../../../scripts/lib/markdown-links.mjs';
import { SIDEBAR } from '../sidebar.mjs';

export default defineConfig({
  title: 'Rollkeeper',
  description: 'A highly available Deployment controller for Kubernetes, and the kit that it is made with',
  srcDir: 'pages',
  outDir: 'dist',
  // The reference of the exports is HTML already, and brings Markdown along.
  srcExclude: ['public/**'],
  // Nothing is fetched from elsewhere, and the site may be put below any path.
  base: process.env.DOCS_BASE ?? '/',
  // Links are checked by the build, and with their anchors by test/unit/doc-links.test.ts.
  ignoreDeadLinks: [/^\/api\//],
  markdown: {
    // Pages are read on GitHub as well, where raw HTML and templates of Vue mean nothing.
    html: false,
    anchor: { slugify: slugOf },
    languageAlias: { jsonl: 'json', promql: 'text' },
  },
  themeConfig: {
    sidebar: [...SIDEBAR, { text: 'Decisions', collapsed: true, items: decisions() }],
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      { text: 'Kit', link: '/docs/KIT' },
      { text: 'Install', link: '/docs/INSTALL' },
      { text: 'Reference', link: '/docs/reference' },
    ],
  },
});

function decisions() {
  const { adrs } = JSON.parse(process.env.DOCS_PAGES ?? '{"adrs":[]}');
  return adrs.map(({ link, text }) => ({ link, text }));
}
