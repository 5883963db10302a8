// The process that floors run in, so that their CPU time is measured apart from the benchmark's own.

import { answerCalls } from '../harness/answer-calls.ts'
import { cpuLoops } from './cpu-loops.ts'
import { commitLoop, flushLoop } from './disk.ts'
import { rawClient, rawDispatch } from './raw-post.ts'
import { batchSizes, statementsOnly } from './statements.ts'

answerCalls({ rawDispatch, rawClient, flushLoop, commitLoop, batchSizes, statementsOnly, cpuLoops })
