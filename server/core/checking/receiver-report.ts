// The report of a check as a page that stands alone: no script, nothing loaded. Everything that is not
// ours is escaped.

import { escapeHtml } from '../plain/text.ts'
import type { CheckedStep, CheckReport, StepResult } from './receiver-check.ts'

const WORDS: Readonly<Record<StepResult, string>> = {
  pass: 'Passed',
  fail: 'Failed',
  warning: 'Warning',
}

const STYLE = `
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}
ol{list-style:none;padding:0}
li{border-left:.4rem solid;padding:.25rem 1rem;margin:1rem 0}
h2{font-size:1rem;margin:0}
p{margin:.25rem 0}
code{overflow-wrap:anywhere}
.pass{border-color:#2e7d32}.fail{border-color:#c62828}.warning{border-color:#b26a00}
`

export function renderReport(report: CheckReport): string {
  const { pass, fail, warning } = report.counts
  const title = report.passed ? 'The receiver passed' : 'The receiver failed'
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Paybell receiver check</title>
<style>${STYLE}</style>
<main>
<h1>${title}</h1>
<p><code>${escapeHtml(report.url)}</code></p>
<p>${pass} passed, ${fail} failed, ${plural(warning)}. Checked at ${escapeHtml(report.at)}, in ${(report.durationMs / 1_000).toFixed(1)} seconds.</p>
<ol>
${report.steps.map(renderStep).join('\n')}
</ol>
</main>
</html>
`
}

function renderStep({ code, title, result, reason, mend }: CheckedStep): string {
  const remedy = mend && `\n<p><strong>What to do:</strong> ${escapeHtml(mend)}</p>`
  return `<li class="${result}"><h2>${WORDS[result]}: ${escapeHtml(title)}</h2>
<p>${escapeHtml(reason)}</p>${remedy ?? ''}
<p><small><code>${escapeHtml(code)}</code></small></p></li>`
}

function plural(warnings: number): string {
  return warnings === 1 ? '1 warning' : `${warnings} warnings`
}
