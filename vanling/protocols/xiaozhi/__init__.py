"""The XiaoZhi device protocol over WebSocket, without sockets, clocks or tasks.

Source of what devices send and expect: the firmware ``78/xiaozhi-esp32`` (2.4.2), py-xiaozhi and the browser test page.
"""

from vanling.protocols.xiaozhi.limits import Limits
from vanling.protocols.xiaozhi.refusal import Refusal
from vanling.protocols.xiaozhi.translator import XiaozhiTranslator

__all__ = ["Limits", "Refusal", "XiaozhiTranslator"]
