// Apache Kafka from Maven Central, where the machine has Java and Maven: its jars stay in the repository under ~/.m2, and
// the class path beside it. Where there is none, tests say why and are skipped.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const VERSION = '4.1.0'
const CLASS_PATH = join(homedir(), '.m2', `paybell-kafka-${VERSION}.classpath`)
const DOWNLOAD_MS_MAX = 240_000

const run = promisify(execFile)
/** Every JVM keeps counters for other tools in /tmp, whatever its temporary folder is. */
const env = { ...process.env, JAVA_TOOL_OPTIONS: '-XX:-UsePerfData' }

export type FoundKafka = { classPath: string } | { missing: string }

export async function findKafka(): Promise<FoundKafka> {
  for (const program of ['java', 'mvn']) {
    const isThere = await run(program, ['-version'], { env }).then(
      () => true,
      () => false,
    )
    if (!isThere) return { missing: `${program} is not installed, which Kafka needs` }
  }
  const kept = await readFile(CLASS_PATH, 'utf8').catch(() => '')
  if (kept !== '' && kept.split(delimiter).every((jar) => existsSync(jar))) {
    return { classPath: kept }
  }
  try {
    return { classPath: await download() }
  } catch {
    return { missing: `Kafka ${VERSION} could not be had from Maven Central` }
  }
}

async function download(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-kafka-'))
  try {
    await writeFile(join(dir, 'pom.xml'), POM)
    const found = join(dir, 'classpath')
    await run('mvn', ['-q', '-B', '-f', join(dir, 'pom.xml'), GOAL, `-Dmdep.outputFile=${found}`], {
      env,
      timeout: DOWNLOAD_MS_MAX,
    })
    await mkdir(dirname(CLASS_PATH), { recursive: true })
    const classPath = (await readFile(found, 'utf8')).trim()
    // Whole or not at all: another run may read it.
    await writeFile(`${CLASS_PATH}.${process.pid}`, classPath)
    await rename(`${CLASS_PATH}.${process.pid}`, CLASS_PATH)
    return classPath
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

const GOAL = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath'

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>paybell</groupId>
  <artifactId>kafka-for-tests</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>${VERSION}</version>
    </dependency>
  </dependencies>
</project>
`
