"""The providers that need no table in the config: their addresses, wires, keys and first models. Pure.

The models are those that the providers' own pages recommended in November 2026. Addresses may come from the variables
that the providers' own programs read.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from actors.vocabulary.errors import ConfigError
from supervisor.config.shared_keys import ModelProvider, WireApi

Environ = Mapping[str, str]

DEMO = "demo"
DEFAULT_MODEL = "gpt-5"
OPENAI_URL = "https://api.openai.com/v1"
OLLAMA_PORT = 11_434
GPT_OSS = "openai/gpt-oss-20b"  # as its makers named it; local servers take that name


class BuiltIn(Struct, frozen=True):
    """A provider, the model to use where none is named, and how its address follows from the environment."""

    definition: ModelProvider
    address: Callable[[Environ], str]
    model: str = DEFAULT_MODEL


def fixed_address(url: str) -> Callable[[Environ], str]:
    return lambda _: url


def _openai(environ: Environ) -> str:
    return _value_of(environ, "OPENAI_BASE_URL") or OPENAI_URL


def _anthropic(environ: Environ) -> str:
    """Anthropic's own programs want the address without the version."""
    base = (_value_of(environ, "ANTHROPIC_BASE_URL") or "https://api.anthropic.com").rstrip("/")
    return base if base.endswith("/v1") else f"{base}/v1"


def _azure(environ: Environ) -> str:
    endpoint = _value_of(environ, "AZURE_OPENAI_ENDPOINT").rstrip("/")
    if not endpoint:
        raise ConfigError(
            "Azure gives each resource an address of its own: set AZURE_OPENAI_ENDPOINT to "
            "https://NAME.openai.azure.com, or base_url in [model_providers.azure] to that and /openai/v1",
            key="model_providers.azure.base_url",
        )
    return endpoint if endpoint.endswith("/v1") else f"{endpoint.removesuffix('/openai')}/openai/v1"


def _ollama(environ: Environ) -> str:
    """The address at which Ollama listens. OLLAMA_HOST may lack a port or a scheme, or mean all of this machine's."""
    host = _value_of(environ, "OLLAMA_HOST") or "localhost"
    scheme, _, rest = host.rpartition("://")
    name, _, port = rest.rstrip("/").partition(":")
    name = "localhost" if name in {"", "0.0.0.0"} else name  # noqa: S104  # nothing is bound here
    if scheme and not port:
        return f"{scheme}://{name}/v1"
    return f"{scheme or 'http'}://{name}:{port or OLLAMA_PORT}/v1"


def _oss(environ: Environ) -> str:
    if base := _value_of(environ, "CODEX_OSS_BASE_URL"):
        return base
    port = _value_of(environ, "CODEX_OSS_PORT") or str(OLLAMA_PORT)
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) < 65_536):
        raise ConfigError("environment variable `CODEX_OSS_PORT`: expected a port number, 1 to 65535")
    return f"http://localhost:{port}/v1"


def _value_of(environ: Environ, variable: str) -> str:
    return environ.get(variable, "").strip()


def _provider_with_key(name: str, variable: str, instructions: str, wire: WireApi = WireApi.CHAT) -> ModelProvider:
    return ModelProvider(name=name, env_key=variable, env_key_instructions=instructions, wire_api=wire)


_OPENAI = _provider_with_key(
    "OpenAI",
    "OPENAI_API_KEY",
    "Create a key at https://platform.openai.com/api-keys and export it.",
    WireApi.RESPONSES,
).model_copy(
    update={"env_http_headers": {"OpenAI-Organization": "OPENAI_ORGANIZATION", "OpenAI-Project": "OPENAI_PROJECT"}}
)
_ANTHROPIC = _provider_with_key(
    "Anthropic",
    "ANTHROPIC_API_KEY",
    "Create a key at https://platform.claude.com/settings/keys and export it.",
    WireApi.MESSAGES,
)
_AZURE = _provider_with_key(
    "Azure OpenAI",
    "AZURE_OPENAI_API_KEY",
    "Copy a key of your resource (Keys and Endpoint in the Azure portal) and export it.",
    WireApi.RESPONSES,
).model_copy(update={"key_header": "api-key"})
_OPENROUTER = _provider_with_key(
    "OpenRouter", "OPENROUTER_API_KEY", "Create a key at https://openrouter.ai/settings/keys and export it."
)
_GEMINI = _provider_with_key(
    "Gemini", "GEMINI_API_KEY", "Create a key at https://aistudio.google.com/apikey and export it."
)

BUILT_IN: Mapping[str, BuiltIn] = {
    "openai": BuiltIn(_OPENAI, _openai),
    "anthropic": BuiltIn(_ANTHROPIC, _anthropic, "claude-opus-5-5"),
    "azure": BuiltIn(_AZURE, _azure),
    "openrouter": BuiltIn(_OPENROUTER, fixed_address("https://openrouter.ai/api/v1"), "openrouter/auto"),
    "gemini": BuiltIn(
        _GEMINI, fixed_address("https://generativelanguage.googleapis.com/v1beta/openai"), "gemini-flash-latest"
    ),
    "ollama": BuiltIn(ModelProvider(name="Ollama"), _ollama, "gpt-oss:20b"),
    "lmstudio": BuiltIn(ModelProvider(name="LM Studio"), fixed_address("http://localhost:1234/v1"), GPT_OSS),
    "vllm": BuiltIn(ModelProvider(name="vLLM"), fixed_address("http://localhost:8000/v1"), GPT_OSS),
    "llamacpp": BuiltIn(ModelProvider(name="llama.cpp"), fixed_address("http://localhost:8080/v1"), GPT_OSS),
    "oss": BuiltIn(ModelProvider(name="Open models on this machine"), _oss, "gpt-oss:20b"),
    DEMO: BuiltIn(ModelProvider(name="Built-in demo model"), fixed_address(""), "demo"),
}
