"""Environment variables of a third-party agent's program: its own, and those of commands. Pure.

Its search path finds no program that a turn could have written before the person's own.
"""

from collections.abc import Mapping

from actors.vocabulary.settings import Settings
from supervisor.agents.acp.confinement import is_confined
from supervisor.config.agent_definitions import AgentDefinition
from supervisor.config.command_environment import Keys, agent_environment
from supervisor.config.whole_config import Config
from supervisor.disk.search_paths import drop_writable_entries, writable_entries_last, writable_folders


def variables_of(
    definition: AgentDefinition, settings: Settings, config: Config, env: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the agent's variables. In a sandbox the project's folders are last in its search path; else left out."""
    given = agent_environment(
        env, config.shell_environment_policy, Keys.from_config(config, env), definition.variables
    )
    writable = writable_folders(settings.sandbox, settings.cwd, env)
    return (writable_entries_last if is_confined(settings, definition) else drop_writable_entries)(given, writable)
